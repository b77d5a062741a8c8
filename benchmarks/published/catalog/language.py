"""Programs that read text."""

from benchmarks.published.program import Program

_BERT_SIZES = "--train_batch_size=8 --max_seq_length=32"
_PRETRAINING = (f"--input_file=DATA/bert/pretraining.tfrecord --output_dir=OUT --do_train --do_eval"
                f" {_BERT_SIZES} --eval_batch_size=8 --max_predictions_per_seq=5"
                f" --num_train_steps=10 --num_warmup_steps=2 --max_eval_steps=4")
_ELECTRA_NETWORK = ('"vocab_size": 65, "max_seq_length": 32, "train_batch_size": 8,'
                    ' "embedding_size": 16, "model_hparam_overrides": {"num_hidden_layers": 2,'
                    ' "hidden_size": 32, "num_attention_heads": 2, "intermediate_size": 64}')
_TF_NER = {"beside": ("guillaumegenthial/tf_metrics",), "places": (("words", "data/example"),),
           "packages": ("tf_slim",)}

PROGRAMS = (
    Program("BERT: run_classifier", "google-research/bert", (
        "run --tf1 run_classifier.py -- --task_name=MRPC --do_train --do_eval --do_predict"
        " --data_dir=DATA/bert/glue/MRPC --vocab_file=DATA/bert/vocab.txt"
        f" --bert_config_file=DATA/bert/bert_config.json {_BERT_SIZES} --num_train_epochs=2"
        " --output_dir=OUT",), packages=("tf_slim",)),
    Program("BERT: run_pretraining", "google-research/bert", (
        "run --tf1 run_pretraining.py -- --bert_config_file=DATA/bert/bert_config.json"
        f" {_PRETRAINING}",), packages=("tf_slim",)),
    Program("ALBERT: run_classifier", "google-research/albert", (
        "run --tf1 albert.run_classifier -- --task_name=CoLA --do_train --do_eval --do_predict"
        " --data_dir=DATA/bert/glue --vocab_file=DATA/bert/albert.vocab"
        " --spm_model_file=DATA/bert/albert.model"
        f" --albert_config_file=DATA/bert/albert_config.json {_BERT_SIZES} --train_step=8"
        " --warmup_step=2 --save_checkpoints_steps=4 --output_dir=OUT",), folder="..",
            packages=("tf_slim", "sentencepiece", "tensorflow_hub", "pandas")),
    Program("ALBERT: run_pretraining", "google-research/albert", (
        "run --tf1 albert.run_pretraining -- --albert_config_file=DATA/bert/albert_config.json"
        f" {_PRETRAINING} --save_checkpoints_steps=5",), folder="..",
            packages=("tf_slim", "sentencepiece", "tensorflow_hub")),
    Program("ELECTRA: run_pretraining", "google-research/electra", (
        "run --tf1 run_pretraining.py -- --data-dir electra_data --model-name tiny --hparams"
        " '{\"num_train_steps\": 10, \"iterations_per_loop\": 5, \"save_checkpoints_steps\": 5,"
        f" {_ELECTRA_NETWORK}}}'",), places=(("electra", "electra_data"),),
            packages=("tf_slim",)),
    Program("ELECTRA: run_finetuning", "google-research/electra", (
        "run --tf1 run_finetuning.py -- --data-dir electra_data --model-name tiny --hparams"
        " '{\"task_names\": [\"cola\"], \"eval_batch_size\": 8, \"num_train_epochs\": 2,"
        f" \"num_trials\": 1, \"init_checkpoint\": null, {_ELECTRA_NETWORK}}}'",),
            places=(("electra", "electra_data"),),
            packages=("tf_slim", "scikit-learn")),
    Program("XLNet: run_classifier", "zihangdai/xlnet", (
        "run --tf1 run_classifier.py -- --task_name=sts-b --is_regression --do_train --do_eval"
        " --data_dir=DATA/bert/glue --output_dir=OUT/processed --model_dir=OUT/model"
        " --spiece_model_file=DATA/bert/xlnet.model"
        " --model_config_path=DATA/bert/xlnet_config.json --max_seq_length=32"
        " --train_batch_size=8 --eval_batch_size=8 --train_steps=8 --save_steps=4 --iterations=4"
        " --num_hosts=1 --num_core_per_host=1",), packages=("sentencepiece", "tf_slim")),
    Program("TAPAS: tapas_classifier_experiment", "google-research/tapas", (
        "run tapas/experiments/tapas_classifier_experiment.py -- --do_train --do_eval"
        " --model_dir=OUT --bert_config_file=DATA/bert/tapas_config.json --compression_type="
        " --input_file_train=DATA/bert/pretraining.tfrecord --eval_name=eval"
        " --input_file_eval=DATA/bert/pretraining.tfrecord --max_seq_length=32"
        " --train_batch_size=8 --eval_batch_size=8 --num_train_examples=64 --num_eval_steps=4"
        " --nouse_answer_as_supervision",),
            prepare="python -m grpc_tools.protoc -I. --python_out=. tapas/protos/*.proto",
            packages=("grpcio-tools", "tf_slim", "tf-models-official", "pandas")),
    Program("tf_ner: lstm_crf", "guillaumegenthial/tf_ner", ("run --tf1 main.py",),
            folder="models/lstm_crf", **_TF_NER),
    Program("tf_ner: chars_conv_lstm_crf", "guillaumegenthial/tf_ner", ("run --tf1 main.py",),
            folder="models/chars_conv_lstm_crf", **_TF_NER),
    Program("BERT-BiLSTM-CRF-NER", "macanv/BERT-BiLSTM-CRF-NER", (
        "run --tf1 run.py -- -data_dir=DATA/conll -output_dir=OUT -init_checkpoint="
        " -bert_config_file=DATA/bert/bert_config.json -vocab_file=DATA/bert/vocab.txt"
        " -max_seq_length=32 -batch_size=8 -num_train_epochs=2 -save_checkpoints_steps=4"
        " -label_list=B-LOC,B-PER,O,X,[CLS],[SEP]",), packages=("tf_slim", "pyzmq")),
    Program("Tensor2Tensor: t2t_trainer", "tensorflow/tensor2tensor", (
        "run --tf1 tensor2tensor.bin.t2t_trainer -- --problem=algorithmic_reverse_binary40"
        " --model=transformer --hparams_set=transformer_tiny --generate_data --data_dir=OUT/data"
        " --tmp_dir=OUT/tmp --output_dir=OUT/model --train_steps=8 --eval_steps=2",),
            packages=("tf_slim", "gym", "mesh-tensorflow", "tensor2tensor")),
)
