"""Programs that predict clicks and incomes from tables."""

from benchmarks.published.program import Program

_REPOS = "lambdaji/tf_repos"
_SIZES = ("--data_dir=DATA/clicks --dt_dir=/day --feature_size=100 --field_size=10"
          " --embedding_size=4 --batch_size=32 --num_threads=2 --model_dir=OUT/model"
          " --servable_model_dir=OUT/servable")


def _of_tf_repos(name: str, layers: str = "--deep_layers=16,8 --dropout=0.5,0.5") -> Program:
    line = f"run --tf1 {name}.py -- {_SIZES} {layers}"
    return Program(f"tf_repos: {name}", _REPOS, tuple(
        f"{line} --task_type={task}" for task in ("train --num_epochs=2", "eval", "export")),
                   folder="deep_ctr/Model_pipeline", packages=("tf_slim",))


_CENSUS = ("run --tf1 trainer.task -- --train-files DATA/census/train.csv --eval-files"
           " DATA/census/eval.csv --job-dir OUT --train-steps 20 --eval-steps 5")
_CLOUDML = "GoogleCloudPlatform/cloudml-samples"

PROGRAMS = (
    _of_tf_repos("DeepFM"),
    _of_tf_repos("DCN", "--deep_layers=16,8 --dropout=0.5,0.5 --cross_layers=2"),
    _of_tf_repos("NFM"),
    _of_tf_repos("PNN"),
    Program("Cloud ML: census, canned", _CLOUDML, (_CENSUS,), folder="census/estimator"),
    Program("Cloud ML: census, own model_fn", _CLOUDML, (_CENSUS,),
            folder="census/customestimator"),
    Program("wide_deep", "Lapis-Hong/wide_deep", ("run --tf1 train.py -- --model_dir=OUT",),
            folder="python", packages=("PyYAML<6",)),
    Program("DeepCTR: estimator, pandas", "shenweichen/DeepCTR", (
        "run run_estimator_pandas_classification.py",), folder="examples",
            packages=("pandas", "scikit-learn")),
    Program("DeepCTR: estimator, TFRecord", "shenweichen/DeepCTR", (
        "run run_estimator_tfrecord_classification.py",), folder="examples"),
)
