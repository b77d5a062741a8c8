"""The run of the text, and its formulas in NumPy."""

import numpy as np

from examples.page import Row, spread

SOURCE = ("The text: `example.py` of github.com/ischlag/distributed-tensorflow-example. It prints"
          " its accuracy but does not record it; the text's figure is that of its formulas, run in"
          " NumPy in one process for as many updates, from the same first checkpoint, with three"
          " orders of the images.")
_WORKERS, _EPOCHS, _BATCH, _RATE = 3, 20, 100, 0.0005


def run(runs):
    """Trains on three workers; computes the same number of updates in NumPy."""
    here = runs.launch(
        "sigmoid", f"--chief=0 --worker={_WORKERS} --ps=1", "--model_fn=mlp",
        *runs.mnist_of_tensorflow_1, f"--param=batch_size={_BATCH}", f"--train_epochs={_EPOCHS}",
        "--epochs_of=worker")
    arrays, start = _arrays(runs), _start(here)
    return here, [_formulas(*arrays, here.step, start, seed) for seed in range(3)]


def _arrays(runs):
    from input_fns import tfrecord
    params = {**tfrecord.DEFAULT_PARAMS, "batch_size": 1000}
    found = []
    for files in (runs.files_of_tensorflow_1, runs.test_files):
        batches = list(tfrecord.input_fn("eval", {**params, "eval_files": files}))
        found += [np.concatenate([b[0]["image"].numpy().reshape(-1, 784) for b in batches]),
                  np.concatenate([b[1].numpy() for b in batches])]
    return found


def _start(run):
    import tensorflow as tf
    reader = tf.train.load_checkpoint(str(run.model_dir / "model.ckpt-0"))
    return [reader.get_tensor(f"{layer}/{variable}") for layer in ("hidden", "logits")
            for variable in ("kernel", "bias")]


def _formulas(x, y, test_x, test_y, updates, start, seed):
    """Returns the test accuracy of the text's network, loss and updates."""
    random = np.random.default_rng(seed)
    w1, b1, w2, b2 = (variable.copy() for variable in start)

    def hidden(images):
        return 1 / (1 + np.exp(-(images @ w1 + b1)))

    for update in range(updates):
        if update % (len(x) // _BATCH) == 0:
            order = random.permutation(len(x))
        rows = order[update * _BATCH % len(x):][:_BATCH]
        a = hidden(x[rows])
        z = a @ w2 + b2
        p = np.exp(z - z.max(1, keepdims=True))
        dz = (p / p.sum(1, keepdims=True) - np.eye(10, dtype="f")[y[rows]]) / _BATCH
        da = dz @ w2.T * a * (1 - a)
        for variable, gradient in ((w2, a.T @ dz), (b2, dz.sum(0)), (w1, x[rows].T @ da),
                                   (b1, da.sum(0))):
            variable -= np.float32(_RATE) * gradient
    return (np.argmax(hidden(test_x) @ w2 + b2, axis=1) == test_y).mean()


ROWS = (
    Row("workers, parameter servers", "3, 1",
        lambda done: f"{done[0].tasks['worker']}, {done[0].tasks['ps']}"),
    Row("trained numbers of the network (784-100-10)", "79,510", lambda done: done[0].parameters),
    Row("batch; rate of SGD", "100; 0.0005",
        lambda done: "{batch_size}; {learning_rate}".format(**done[0].params)),
    Row("updates: 20 epochs of each of 3 workers, of 550 batches each; here each takes a third of"
        " the images 60 times, which is no whole number of batches", "33,000",
        lambda done: f"{done[0].step:,}"),
    Row("accuracy on the 10,000 test images: the formulas in NumPy, and this program",
        lambda done: spread(map("{:.4f}".format, done[1])), lambda done: done[0].accuracy),
)
