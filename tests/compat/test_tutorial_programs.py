"""Programs as tutorials of TensorFlow 0.12 and 1 had them: their MNIST, and names of 0.12."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tests.compat.test_compat import last_line, run_python
from tests.input_fns.test_convert import write_idx
from tests.support import jobs

PROGRAM = """
import estimator_trainer.compat.tf1
import json
import tensorflow as tf
import tensorflow.examples.tutorials.mnist.input_data as same
from tensorflow.contrib.learn.python.learn.datasets.mnist import read_data_sets
from tensorflow.examples.tutorials.mnist import input_data

mnist = input_data.read_data_sets(FOLDER, one_hot=True, validation_size=200, seed=1)
x = tf.placeholder(tf.float32, [None, 64])
y = tf.placeholder(tf.float32, [None, 10])
logits = tf.matmul(x, tf.Variable(tf.zeros([64, 10]))) + tf.Variable(tf.zeros([10]))
loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(logits, y))
tf.scalar_summary("loss", loss)
summaries = tf.merge_all_summaries()
train = tf.train.GradientDescentOptimizer(0.5).minimize(loss)
right = tf.equal(tf.argmax(logits, 1), tf.argmax(y, 1))
accuracy = tf.reduce_mean(tf.cast(right, tf.float32))
with tf.Session() as session:
    session.run(tf.initialize_all_variables())
    for _ in range(300):
        images, labels = mnist.train.next_batch(100)
        session.run(train, {x: images * 15.9375, y: labels})
    found = session.run([accuracy, summaries, tf.sub(tf.mul(3, 4), 2), tf.pack([1, 2])],
                        {x: mnist.test.images * 15.9375, y: mnist.test.labels})
named = tf.nn.softmax_cross_entropy_with_logits(labels=y, logits=logits).shape.as_list()
raw = read_data_sets(FOLDER, dtype=tf.uint8, reshape=False, validation_size=0)
print(json.dumps([float(found[0]), len(found[1]) > 0, int(found[2]), found[3].tolist(), named,
                  [part.num_examples for part in mnist], mnist.train.epochs_completed,
                  [str(raw.train.images.dtype), raw.train.images.shape, raw.train.labels.shape],
                  read_data_sets is input_data.read_data_sets, same is input_data]))
"""
EPOCHS = """
import estimator_trainer.compat.tf1
import json
from tensorflow.examples.tutorials.mnist import input_data
part = input_data.read_data_sets(FOLDER, validation_size=0).train
every = sorted(map(tuple, part.images))
seen = [tuple(image) for _ in range(14) for image in part.next_batch(300)[0]]
print(json.dumps([part.epochs_completed, *(
    sorted(seen[n * 1400:(n + 1) * 1400]) == every for n in range(3)),
    seen[:1400] == seen[1400:2800]]))
"""


@pytest.fixture(name="mnist", scope="module")
def fixture_mnist(tmp_path_factory):
    """MNIST's four files, with digits of 8x8 pixels of 0 to 16 in them."""
    folder = tmp_path_factory.mktemp("mnist")
    rows = np.loadtxt(jobs.REPO / "input_fns" / "digits.csv.gz", delimiter=",")
    parts = {"train": rows[:1400], "t10k": rows[1400:]}
    for split, part in parts.items():
        write_idx(folder, split, part[:, :64].reshape(-1, 8, 8), part[:, 64],
                  compress=split == "train")
    return folder


def _run(code, folder):
    run = run_python(code.replace("FOLDER", repr(str(folder))))
    assert run.returncode == 0, run.stderr
    return json.loads(last_line(run.stdout))


@pytest.mark.cluster
def test_a_program_of_tensorflow_0_12_trains_on_mnists_files(mnist):
    accuracy, *found = _run(PROGRAM, mnist)
    assert accuracy > 0.85
    assert found == [True, 10, [1, 2], [None], [1200, 200, 397], 24,
                     ["uint8", [1400, 8, 8, 1], [1400]], True, True]


@pytest.mark.soak
@pytest.mark.cluster
def test_each_epoch_of_a_tutorials_batches_has_every_image_once(mnist):
    assert _run(EPOCHS, mnist) == [2, True, True, True, False]


@pytest.mark.soak
@pytest.mark.cluster
@pytest.mark.parametrize("call, expected", [
    ("read_data_sets('/nowhere')", "holds no train-images-idx3-ubyte.gz"),
    ("read_data_sets(FOLDER, fake_data=True)", "expected False"),
    ("read_data_sets(FOLDER, validation_size=9999)", "expected 0 to 1400"),
])
def test_what_cannot_be_read_is_one_sentence(mnist, call, expected):
    run = run_python("import estimator_trainer.compat.tf1\n"
                     "from tensorflow.examples.tutorials.mnist.input_data import read_data_sets\n"
                     + call.replace("FOLDER", repr(str(mnist))))
    assert expected in last_line(run.stderr)
