"""Libraries of Estimators from PyPI, with our own drivers, and their examples."""

from benchmarks.published.program import Program

_RANKING = "tensorflow/ranking"
_EXAMPLES = "tensorflow_ranking/examples"

PROGRAMS = (
    Program("deepctr", "deepctr", ("run DRIVERS/train_deepctr.py -- --model_dir=OUT",),
            packages=("tensorboard",)),
    Program("tensorflow_ranking", "tensorflow_ranking", (
        "run DRIVERS/train_ranking.py -- --model_dir=OUT",)),
    Program("adanet", "adanet", ("run DRIVERS/train_adanet.py -- --model_dir=OUT",),
            packages=("tensorboard",)),
    Program("tensorflow_gan", "tensorflow_gan", (
        "run --tf1 DRIVERS/train_gan.py -- --model_dir=OUT",)),
    Program("TF-Ranking: tf_ranking_libsvm", _RANKING, (
        "run tf_ranking_libsvm.py -- --train_path=data/train.txt --vali_path=data/vali.txt"
        " --test_path=data/test.txt --output_dir=OUT --num_train_steps=10",), folder=_EXAMPLES,
            import_root="."),
    Program("TF-Ranking: tf_ranking_canned_dnn", _RANKING, (
        "run tf_ranking_canned_dnn.py -- --train_input_pattern=data/train_numerical_elwc.tfrecord"
        " --eval_input_pattern=data/vali_numerical_elwc.tfrecord --model_dir=OUT"
        " --num_train_steps=10",), folder=_EXAMPLES, import_root="."),
    Program("TF-GAN: mnist_estimator", "tensorflow/gan", (
        "run tensorflow_gan/examples/mnist_estimator/train.py -- --max_number_of_steps=5"
        " --batch_size=16 --output_dir=OUT",), packages=("tensorflow_datasets", "pillow")),
    Program("EasyRec: DeepFM", "alibaba/EasyRec", (
        "run --tf1 easy_rec.python.train_eval -- --pipeline_config_path="
        "samples/model_config/deepfm_combo_on_avazu_ctr.config --model_dir=OUT"
        " --train_input_path DATA/avazu/train.csv --eval_input_path DATA/avazu/eval.csv"
        " --edit_config_json '{\"train_config.num_steps\": 10}'",),
            prepare="python -m grpc_tools.protoc -I. --python_out=. easy_rec/python/protos/*.proto",
            packages=("grpcio-tools", "pandas", "scikit-learn", "future", "matplotlib", "oss2",
                      "psutil", "pyarrow", "PyYAML", "xlrd", "setuptools")),
    Program("TensorFlow Privacy: mnist_dpsgd_tutorial", "tensorflow/privacy", (
        "run mnist_dpsgd_tutorial.py -- --epochs=1 --batch_size=1000 --microbatches=1"
        " --model_dir=OUT",), folder="tutorials", import_root=".",
            packages=("dp-accounting", "tensorflow_datasets")),
    Program("tf-yarn: identity", "criteo/tf-yarn", (
        "run DRIVERS/train_tf_yarn.py -- --model_dir=OUT",)),
    Program("TensorFlowOnSpark: MNIST", "yahoo/TensorFlowOnSpark", (
        "run DRIVERS/train_on_spark.py -- --model_dir=OUT --export_dir=OUT/export",),
            folder="examples/mnist/estimator", packages=("tensorflow_datasets",)),
)
