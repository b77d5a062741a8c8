"""The runs of the text: 30,000 steps in one process, and steps on two devices."""

import numpy as np

from examples.page import Row

SOURCE = ("The text: github.com/caicloud/tensorflow-tutorial, chapter 5 (what its notebook printed"
          " after 30,000 steps on MNIST; its accuracies are of 5,000 images of the training set,"
          " ours of the test set) and the chapter on several GPUs.")
_FLAGS = ("--model_fn=dense_l2_ema", "--param=batch_size=100", "--param=histograms=false",
          "--log_every_steps=1000")
_SEVERAL = ("--param=learning_rate=0.001", "--param=shuffle_buffer=0", "--seed=1",
            "--train_steps=1000")


def run(runs):
    """Trains on one device as in chapter 5; then on one and two with one seed and batch."""
    one = runs.train("one", *_FLAGS, *runs.mnist, "--param=decay=staircase", "--train_steps=30000",
                     "--save_checkpoints_steps=5000")
    alone = runs.train("alone", *_FLAGS, *_SEVERAL, *runs.mnist)
    pair = runs.train("pair", *_FLAGS, *_SEVERAL, *runs.mnist, "--train_distribute=mirrored",
                      "--num_replicas=2")
    return one, alone, pair


def _loss(step):
    return lambda done: f"{done[0].losses[step]:.3f}"


def _accuracy(step):
    return lambda done: f"{done[0].accuracies[step]:.4f}"


def _difference(done):
    _, alone, pair = done
    return f"{max(np.abs(v - pair.variables[k]).max() for k, v in alone.variables.items()):.1g}"


ROWS = (
    Row("trained numbers of the network (784-500-10)", "397,510", lambda done: done[0].parameters),
    Row("batch; rate, decay an epoch; L2; moving averages", "100; 0.8, 0.99; 0.0001; 0.99",
        lambda done: "{batch_size}; {learning_rate}, {decay_rate}; {weight_decay};"
        " {moving_average}".format(**done[0].params)),
    Row("loss of a batch with its L2 at step 1,000", "0.306", _loss(1000)),
    Row("at step 5,000", "0.104", _loss(5000)),
    Row("at step 10,000", "0.068", _loss(10000)),
    Row("at step 20,000", "0.044", _loss(20000)),
    Row("at step 29,000", "0.035", _loss(29000)),
    Row("accuracy of the averages at step 5,000", "0.9852", _accuracy(5000)),
    Row("at step 10,000", "0.9852", _accuracy(10000)),
    Row("at step 20,000", "0.9852", _accuracy(20000)),
    Row("rate on several devices", "0.001", lambda done: done[2].params["learning_rate"]),
    Row("largest difference of a trained variable on two devices from one after 1,000 steps", "0",
        _difference),
)
