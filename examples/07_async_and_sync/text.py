"""The runs of the text: two workers and two parameter servers, in both modes."""

from examples.page import Row, spread

SOURCE = ("The text: the chapter on distributed TensorFlow of"
          " github.com/caicloud/tensorflow-tutorial, whose programs ran without end figures; one"
          " process of this program, with three seeds, stands for them.")
_FLAGS = ("--model_fn=dense_l2_ema", "--param=learning_rate=0.01", "--param=histograms=false",
          "--log_every_steps=1000")
_STEPS = 20000
# The rate decays by 0.99 in 600 steps, also where a step has the batches of both workers.
_ONE = ("--param=batch_size=100", "--param=train_examples=60000")
_BOTH = ("--param=batch_size=200", "--param=train_examples=120000")


def run(runs):
    """Trains 20,000 steps asynchronously, synchronously with as many examples, and alone."""
    flags = (*_FLAGS, *runs.mnist_of_tensorflow_1, f"--train_steps={_STEPS}")
    job = "--chief=0 --worker=2 --ps=2"

    def alone(name, batch):
        return [runs.train(f"{name}{n}", *flags, *batch, f"--seed={n}") for n in (1, 2, 3)]

    return (alone("alone", _ONE), runs.launch("async", job, *flags, *_ONE),
            runs.launch("sync", job, *flags, *_BOTH, "--sync_replicas=2"), alone("twice", _BOTH))


ROWS = (
    Row("workers, parameter servers", "2, 2",
        lambda done: f"{done[1].tasks['worker']}, {done[1].tasks['ps']}"),
    Row("batch; rate", "100; 0.01",
        lambda done: "{batch_size}; {learning_rate}".format(**done[1].params)),
    Row("steps, asynchronous: a worker may be in its last one", "20,000 or 20,001",
        lambda done: f"{done[1].step:,}"),
    Row("steps, synchronous", "20,000", lambda done: f"{done[2].step:,}"),
    Row("accuracy, asynchronous: one process, and two workers, after as many steps",
        lambda done: spread(run.accuracy for run in done[0]), lambda done: done[1].accuracy),
    Row("accuracy, synchronous: one process with twice the batch, and two workers",
        lambda done: spread(run.accuracy for run in done[3]), lambda done: done[2].accuracy),
)
