"""Samples for Cloud TPUs, which run on CPUs too, and programs of their own kind."""

from benchmarks.published.program import Program

_CLOUDML = "GoogleCloudPlatform/cloudml-samples"


def _template(kind: str) -> Program:
    return Program(f"Cloud ML: {kind}", _CLOUDML, (
        "run --tf1 trainer.py -- --model-dir=OUT --max-steps=10",),
                   folder=f"tpu/templates/{kind}", packages=("tf_slim",))


PROGRAMS = (
    _template("tpu_estimator"),
    _template("tpu_cnn_estimator"),
    _template("tpu_lstm_estimator"),
    _template("tpu_film_estimator"),
    _template("tpu_grl_estimator"),
    Program("Cloud ML: boston", _CLOUDML, (
        "run --tf1 trainer.task -- --job-dir OUT --train-file DATA/houses/boston_housing.npz"
        " --num-epochs 10 --batch-size 16",), folder="tensorflow/standard/boston"),
    Program("Cloud ML: fashion MNIST", _CLOUDML, (
        "run --tf1 trainer.task -- --job-dir OUT"
        " --train-file DATA/mnist/train-images-idx3-ubyte.gz"
        " --train-labels-file DATA/mnist/train-labels-idx1-ubyte.gz"
        " --test-file DATA/mnist/t10k-images-idx3-ubyte.gz"
        " --test-labels-file DATA/mnist/t10k-labels-idx1-ubyte.gz"
        " --num-epochs 2 --batch-size 32",), folder="tensorflow/standard/mnist"),
    Program("Minigo: train", "tensorflow/minigo", (
        "run --tf1 train.py -- DATA/go/train.tfrecord.zz --work_dir=OUT --train_batch_size=8"
        " --conv_width=8 --fc_width=8 --trunk_layers=1 --filter_amount=1.0 --steps_to_train=4"
        " --shuffle_buffer_size=64",), packages=("tf_slim", "google-cloud-bigtable", "tqdm")),
    Program("TPU models: dcgan", "tensorflow/tpu", (
        "run --tf1 dcgan_main.py -- --model_dir=OUT --nouse_tpu --train_steps=4"
        " --train_steps_per_eval=2 --batch_size=8",), folder="models/experimental/dcgan",
            packages=("tensorflow_gan", "pillow")),
    Program("Ecosystem: keras_model_to_estimator", "tensorflow/ecosystem", (
        "run --tf1 keras_model_to_estimator.py -- OUT",), folder="distribution_strategy"),
)
