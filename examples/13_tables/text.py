"""The runs: churn and prices with default settings, and scikit-learn's defaults beside them."""

import importlib
import importlib.util

from examples.page import Row

SOURCE = ("The text: the best of scikit-learn's logistic or ridge regression and its two gradient"
          " boostings, with default settings. Here: the commands of this page. Both learn from the"
          " same rows; the scores are those of other rows, which neither has seen: the area under"
          " the ROC curve, and R².")
_LABELS = {"churn": "churn", "prices": "price"}
_BASELINES = ("linear", "boosting", "older boosting")


def run(runs):
    """Writes the tables, trains with the default model and with a linear one, and scores both."""
    folder = runs.folder / "tables"
    importlib.import_module("examples.13_tables.shops").write(folder)
    return {name: _scored(runs, folder, name, label) for name, label in _LABELS.items()} | {
        "linear prices": _scored(runs, folder, "prices", "price",
                                 "--param=estimator=LinearRegressor")}


def _scored(runs, folder, name, label, *flags):
    test = f"{folder}/{name}-test.csv"
    trained = runs.train(f"{name}{len(flags)}", "--model_fn=canned", "--input_fn=csv",
                         f"--param=train_files={folder}/{name}.csv", f"--param=label={label}",
                         *flags)
    output = f"{trained.model_dir}/predictions.csv"
    runs.program(f"{name}{len(flags)}", "predict", f"--data={test}", f"--output={output}")
    if importlib.util.find_spec("sklearn") is None:
        return None
    score = importlib.import_module("examples.13_tables.score")
    return score.scores(f"{folder}/{name}.csv", test, label, output)


def _of(name, key):
    def shown(done):
        scores = done[name]
        if not scores:
            return "no scikit-learn here"
        return f"{max(scores[each] for each in _BASELINES) if key == 'best' else scores[key]:.4f}"

    return shown


ROWS = (
    Row("churn, 32,000 customers, AUC", _of("churn", "best"), _of("churn", "here")),
    Row("prices, 16,800 houses, R²", _of("prices", "best"), _of("prices", "here")),
    Row("the same, linear: ridge and `estimator=LinearRegressor`", _of("linear prices", "linear"),
        _of("linear prices", "here")),
)
