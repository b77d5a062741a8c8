"""The runs of the text: ResNet-50 with its recipe, on one device, two, and two machines."""

from examples.page import Row
from examples.runs import EXAMPLES

SOURCE = ("The text: He et al. (arXiv:1512.03385), with the recipe of Goyal et al."
          " (arXiv:1706.02677), as TensorFlow's ResNet-50 Estimator has it, on the GPUs of one"
          " machine and of several. Its figures are of ImageNet; here two devices of one machine"
          " stand for them, beside two machines with the same images on each replica"
          " (`same_batches.py`).")
_STEPS, _SHOWN = 400, (50, 100, 200, 300, 400)
_NETWORK = ("--model_fn=resnet", "--param=depth=50", "--param=optimizer=momentum",
            "--param=learning_rate=0.1")
_RECIPE = (*_NETWORK, "--param=warmup_steps=100", f"--param=decay_steps={_STEPS}",
           f"--train_steps={_STEPS}", "--log_every_steps=50", "--exporters=none",
           "--param=shuffle_buffer=0", "--seed=1")
_SPEED = (*_NETWORK, "--param=num_classes=1000", "--param=batch_size=16",
          "--input_fn=image_folder", "--param=image_size=224", "--param=augment=imagenet",
          "--train_steps=20", "--log_every_steps=5",
          "--exporters=none", "--eval_steps=1")


def run(runs):
    """Trains in each way on MNIST; measures each way on images of 224 pixels."""
    folder = _images(runs)
    same_batches = f"--input_fn={EXAMPLES}/11_resnet/same_batches.py"
    speed = (*_SPEED, f"--param=train_dir={folder}", f"--param=eval_dir={folder}")
    return {**_ways(runs, "mnist", *_RECIPE, *runs.mnist, same_batches),
            **_ways(runs, "images", *speed),
            "bfloat16": runs.train("bfloat16", *speed, "--mixed_precision=bfloat16")}


def _ways(runs, name, *flags):
    return {
        f"{name} one": runs.train(f"{name}_one", *flags),
        f"{name} devices": runs.train(f"{name}_devices", *flags, "--train_distribute=mirrored",
                                      "--num_replicas=2"),
        f"{name} machines": runs.launch(f"{name}_machines", "--chief=0 --worker=2", *flags,
                                        "--train_distribute=multi_worker_mirrored")}


def _images(runs):
    """Writes digits of MNIST as colour images of 224 pixels, a folder for each class."""
    import tensorflow as tf

    from input_fns import tfrecord
    params = {**tfrecord.DEFAULT_PARAMS, "eval_files": runs.test_files, "batch_size": 500}
    [(features, labels)] = tfrecord.input_fn("eval", params).take(1)
    large = tf.image.grayscale_to_rgb(tf.image.resize(features["image"], [224, 224]))
    for number, (image, label) in enumerate(zip(large.numpy(), labels.numpy(), strict=True)):
        path = runs.folder / "digits" / str(label) / f"{number}.jpg"
        path.parent.mkdir(parents=True, exist_ok=True)
        encoded = tf.io.encode_jpeg(tf.cast(image * 255, tf.uint8))
        path.write_bytes(encoded.numpy())
    return runs.folder / "digits"


def _both(name, shown):
    return lambda done: "; ".join(shown(done[f"{name} {way}"]) for way in ("devices", "machines"))


def _way(name, shown):
    return lambda done: shown(done[name])


def _rows(what, name, shown):
    return Row(what, _way(f"{name} one", shown), _both(name, shown))


def _loss(step):
    return lambda run: f"{run.losses[step]:.3f}"


def _speed(run):
    return f"{run.speed(since_step=5):,.0f}"


ROWS = (
    Row("trained numbers of the network, 1,000 classes", "25,557,032",
        lambda done: done["images one"].parameters),
    Row("momentum; label smoothing; weight decay", "0.9; 0.1; 0.0001", lambda done:
        "{momentum}; {label_smoothing}; {weight_decay}".format(**done["mnist one"].params)),
    Row("rate for a batch of 256; warm-up and decay", "0.1; linear, cosine", lambda done:
        "{learning_rate}; linear, {decay}".format(**done["mnist one"].params)),
    *(Row(f"loss of the batch of 64 at step {step} of {_STEPS}" if step == _SHOWN[0]
          else f"at step {step}", _way("mnist devices", _loss(step)),
          _way("mnist machines", _loss(step))) for step in _SHOWN),
    Row("accuracy on the 10,000 test images after them",
        lambda done: done["mnist devices"].accuracy,
        lambda done: done["mnist machines"].accuracy),
    Row("that of one process, whose batch normalisation sees all 64 images, not 32",
        "about the same", lambda done: done["mnist one"].accuracy),
    _rows("images/s, batches of 64 of 28 x 28 pixels: one process; two devices and two machines,"
          " all on the same cores", "mnist",
          lambda run: f"{run.speed(since_step=50):,.0f}"),
    _rows("images/s, batches of 16 of 224 x 224 pixels", "images", _speed),
    Row("the same in float32; in bfloat16, one process", _way("images one", _speed),
        lambda done: _speed(done["bfloat16"])),
)
