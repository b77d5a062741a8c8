"""The runs of the text: 30,000 steps in one process, and steps on two devices."""

from examples.page import Row, spread

SOURCE = ("The text: github.com/caicloud/tensorflow-tutorial, chapter 5 (what the notebooks of its"
          " four editions printed, on MNIST; ours is of three seeds) and the chapter on several"
          " GPUs.")
_FLAGS = ("--model_fn=dense_l2_ema", "--param=batch_size=100", "--param=histograms=false",
          "--log_every_steps=1000")
_CHAPTER_5 = ("--param=decay=staircase", "--param=train_examples=55000")
_SEEDS = (1, 2, 3)
_SEVERAL = ("--param=learning_rate=0.001", "--param=shuffle_buffer=0", "--seed=1",
            "--train_steps=1000")


def run(runs):
    """Trains as in chapter 5, with three seeds; then on one and two devices with one seed."""
    chapter_5 = (*_FLAGS, *runs.mnist_of_tensorflow_1, *_CHAPTER_5)
    long = (f"--param=eval_files={runs.validation_files}", "--train_steps=30000",
            "--save_checkpoints_steps=1000")
    ones = [runs.train(f"one{n}", *chapter_5, *long, f"--seed={n}") for n in _SEEDS]
    short = [runs.train(f"short{n}", *chapter_5, "--train_steps=5000", f"--seed={n}")
             for n in _SEEDS]
    alone = runs.train("alone", *_FLAGS, *_SEVERAL, *runs.mnist)
    pair = runs.train("pair", *_FLAGS, *_SEVERAL, *runs.mnist, "--train_distribute=mirrored",
                      "--num_replicas=2")
    return ones, short, alone, pair


def _loss(step):
    return lambda done: spread(f"{run.losses[step]:.3f}" for run in done[0])


def _accuracy(step):
    return lambda done: spread(f"{run.accuracies[step]:.4f}" for run in done[0])


ROWS = (
    Row("trained numbers of the network (784-500-10)", "397,510",
        lambda done: done[0][0].parameters),
    Row("batch; rate, decay an epoch; L2; moving averages", "100; 0.8, 0.99; 0.0001; 0.99",
        lambda done: "{batch_size}; {learning_rate}, {decay_rate}; {weight_decay};"
        " {moving_average}".format(**done[0][0].params)),
    Row("loss of a batch with its L2 at step 1,000", "0.212 to 0.306", _loss(1000)),
    Row("at step 5,000", "0.101 to 0.118", _loss(5000)),
    Row("at step 10,000", "0.067 to 0.074", _loss(10000)),
    Row("at step 20,000", "0.037 to 0.045", _loss(20000)),
    Row("at step 29,000", "0.035 to 0.040", _loss(29000)),
    Row("accuracy of the averages on the 5,000 images kept apart, at step 5,000",
        "0.9830, 0.9852", _accuracy(5000)),
    Row("at step 10,000", "0.9848, 0.9852", _accuracy(10000)),
    Row("at step 20,000", "0.9844, 0.9852", _accuracy(20000)),
    Row("at step 29,000", "0.9856, 0.9860", _accuracy(29000)),
    Row("on the 10,000 test images, at step 5,000", "0.9823 to 0.9832",
        lambda done: spread(run.accuracy for run in done[1])),
    Row("rate on several devices", "0.001", lambda done: done[3].params["learning_rate"]),
    Row("largest difference of a trained variable on two devices from one after 1,000 steps", "0",
        lambda done: done[3].difference(done[2])),
)
