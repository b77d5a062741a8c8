"""The runs of the text: one device, several, and one that is not there."""

import re

from examples.page import Row

SOURCE = ("The text: TensorFlow's guide to devices and the multi-GPU chapter of its white paper;"
          " its claims have no figures but these.")
_FLAGS = ("--model_fn=cnn", "--param=shuffle_buffer=0", "--seed=1", "--train_steps=30")


def run(runs):
    """Trains with one seed on one, two and four devices, and asks for a GPU that is not there."""
    several = [runs.train(f"mirrored{n}", *_FLAGS, "--train_distribute=mirrored",
                          f"--num_replicas={n}", "--log_device_placement") for n in (2, 4)]
    soft = runs.program("soft", *_FLAGS, "--device=gpu:7")
    hard = runs.program("hard", *_FLAGS, "--device=gpu:7", "--nosoft_placement")
    return runs.train("one", *_FLAGS), several, soft, hard


def _difference(done):
    one, several, _, _ = done
    return "; ".join(run.difference(one) for run in several)


def _accuracies(done):
    one, several, _, _ = done
    return ", ".join(run.accuracy for run in (one, *several))


def _devices(done):
    return "; ".join(str(len(set(re.findall(r"device:CPU:(\d)", run.log)))) for run in done[1])


ROWS = (
    Row("devices that the log of placements names, of 2 and of 4", "2; 4", _devices),
    Row("largest difference of a trained variable from one device's after 30 steps, with 2 and 4"
        " (float32 holds 7 digits)", "0; 0", _difference),
    Row("accuracy on 1, 2 and 4 devices", "the same", _accuracies),
    Row("exit code where the device is not there: with soft placement, without (here it is refused"
        " in both, since a job that asks for a GPU is slow on a CPU)",
        "0: it computes on another; an error", lambda done: f"{done[2].code}; {done[3].code}"),
)
