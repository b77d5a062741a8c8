"""The runs of the text: two workers and two parameter servers, in both modes."""

from examples.page import Row

SOURCE = ("The text: the chapter on distributed TensorFlow of"
          " github.com/caicloud/tensorflow-tutorial, whose programs ran without end figures; one"
          " process of this program stands for them.")
_FLAGS = ("--model_fn=dense_l2_ema", "--param=batch_size=100", "--param=learning_rate=0.01",
          "--param=histograms=false", "--log_every_steps=1000")
_STEPS = 20000


def run(runs):
    """Trains 20,000 steps asynchronously, synchronously with as many examples, and alone."""

    def launched(name, *flags):
        return runs.launch(name, "--chief=0 --worker=2 --ps=2", *_FLAGS, *runs.mnist,
                           f"--train_steps={_STEPS}", *flags)

    def alone(name, *flags):
        return runs.train(name, *_FLAGS, *runs.mnist, f"--train_steps={_STEPS}", *flags)

    return (alone("alone"), launched("async"),
            launched("sync", "--sync_replicas=2", "--param=batch_size=200"),
            alone("twice", "--param=batch_size=200"))


def _accuracy(index):
    return lambda done: f"{done[index].metrics['accuracy']:.4f}"


ROWS = (
    Row("workers, parameter servers", "2, 2",
        lambda done: f"{done[1].tasks['worker']}, {done[1].tasks['ps']}"),
    Row("batch; rate", "100; 0.01",
        lambda done: "{batch_size}; {learning_rate}".format(**done[1].params)),
    Row("steps, asynchronous: a worker may be in its last one", "20,000 or 20,001",
        lambda done: f"{done[1].step:,}"),
    Row("steps, synchronous", "20,000", lambda done: f"{done[2].step:,}"),
    Row("accuracy, asynchronous: one process, and two workers, after as many steps",
        _accuracy(0), _accuracy(1)),
    Row("accuracy, synchronous: one process with twice the batch, and two workers",
        _accuracy(3), _accuracy(2)),
)
