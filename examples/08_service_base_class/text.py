"""The run of the text: a class of the service, on a chief, two workers and a ps."""

import re
import sys

from examples.page import Row
from examples.runs import EXAMPLES, inputs_and_outputs

SOURCE = ("The text: the pages of caicloud's service and `mnist_export.py` of its examples, which"
          " feeds MNIST; here `digits_service.py` feeds the digits.")

_METHODS = ("build_model", "get_init_fn", "train", "after_train")


def run(runs):
    """Trains the example's class until its accuracy is high enough."""
    return runs.launch(
        "service", "--worker=2 --ps=1",
        f"--model_fn={EXAMPLES}/08_service_base_class/digits_service.py:DigitsModel",
        "--train_steps=5000", "--exporters=none", f"--param=export_dir={runs.folder}/export")


def _signature(done):
    [path] = (done.model_dir.parent / "export").glob("**/saved_model.pb")
    return inputs_and_outputs(str(path.parent))


def _methods(_done):
    sys.path.insert(0, str(EXAMPLES / "08_service_base_class"))
    from caicloud.clever.tensorflow import dist_base
    names = vars(dist_base.CaicloudDistTensorflowBase)
    return ", ".join(f"`{name}`" for name in _METHODS if name in names)


def _stopped(done):
    return len(set(re.findall(r"^((?:chief|worker):\d) +\| .*train_returned_true", done.log, re.M)))


ROWS = (
    Row("methods that a program writes", ", ".join(f"`{name}`" for name in _METHODS), _methods),
    Row("trainers, of the chief and two workers, that stop because `train` returned True", "3",
        _stopped),
    Row("how often `after_train` is called on the chief", "1",
        lambda done: done.log.count("after training: accuracy")),
    Row("inputs; outputs of `init_model_exporter`'s SavedModel", "image; logits", _signature),
)
