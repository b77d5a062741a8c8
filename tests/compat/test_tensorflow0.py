"""Programs of TensorFlow 0.12 get what their names and arguments meant, and a line in the log."""

from __future__ import annotations

import json

import pytest

from tests.compat.test_compat import last_line, run_python

PROGRAM = """
import estimator_trainer.compat.tf1
import json
import tensorflow as tf

x = tf.constant([[1., 2.], [3., 4.]])
values = {
    "concat": [tf.concat(0, [[1.], [2.]]), tf.concat(concat_dim=0, values=[[1.], [2.]]),
               tf.concat(1, values=[[[1.]], [[2.]]]), tf.concat([[1.], [2.]], 0)],
    "split": [*tf.split(1, 2, x), *tf.split(0, 2, value=x),
              *tf.split(split_dim=1, num_split=2, value=x), *tf.split(x, 2, 1)],
    "reverse": [tf.reverse(x, [True, False]), tf.reverse(x, dims=[False, True]),
                tf.reverse(x, [1])],
    "sparse": [tf.sparse_tensor_to_dense(each) for each in tf.sparse_split(
        1, 2, tf.SparseTensor([[0, 0]], [1.], [1, 2]))],
    "names": [tf.mul(2., 3.), tf.sub(1., 2.), tf.neg(1.), tf.inv(2.), tf.pack([1, 2]),
              *tf.unpack([1, 2]), tf.select([True, False], [1, 2], [3, 4]),
              tf.listdiff([1, 2], [1])[0], tf.complex_abs(tf.constant(3j)),
              tf.batch_matmul(x, x, adj_x=True), tf.batch_matrix_transpose(x)],
    "losses": [tf.nn.softmax_cross_entropy_with_logits([[1., 2.]], [[0., 1.]]),
               tf.nn.softmax_cross_entropy_with_logits(logits=[[1., 2.]], labels=[[0., 1.]])],
    "images": [tf.shape(tf.image.resize_images(tf.ones([4, 4, 3]), 2, 3)),
               tf.shape(tf.image.resize_images(tf.ones([4, 4, 3]), new_height=2, new_width=3)),
               tf.shape(tf.image.resize_images(tf.ones([4, 4, 3]), [2, 3]))],
}
tf.train.SyncReplicasOptimizer(tf.train.GradientDescentOptimizer(0.1), replicas_to_aggregate=1,
                               total_num_replicas=1, replica_id=0)
tf.scalar_summary("loss", 1.)
merged = tf.merge_all_summaries()
outputs, _ = tf.nn.rnn(tf.nn.rnn_cell.BasicRNNCell(2), [tf.ones([1, 2])], dtype=tf.float32)
try:
    tf.nn.softmax_cross_entropy_with_logits(x, x, x)
except TypeError as error:
    values["three"] = str(error)
three = values.pop("three")
with tf.Session() as session:
    session.run(tf.initialize_all_variables())
    found = session.run(values)
print(json.dumps({**{name: [each.tolist() for each in found[name]] for name in found},
                  "rnn": outputs[0].shape.as_list(), "three": three,
                  "summary": merged.dtype.name,
                  "writer": tf.train.SummaryWriter is tf.summary.FileWriter,
                  "missing": hasattr(tf, "nope")}))
"""


@pytest.mark.cluster
@pytest.mark.soak
def test_names_and_arguments_mean_what_they_meant():
    run = run_python(PROGRAM)
    assert run.returncode == 0, run.stderr
    found = json.loads(last_line(run.stdout))
    assert found["concat"] == [[1, 2], [1, 2], [[1, 2]], [1, 2]]
    columns = [[[1], [3]], [[2], [4]]]
    assert found["split"] == [*columns, [[1, 2]], [[3, 4]], *columns, *columns]
    assert found["reverse"] == [[[3, 4], [1, 2]], [[2, 1], [4, 3]], [[2, 1], [4, 3]]]
    assert found["sparse"] == [[[1]], [[0]]]
    assert found["names"] == [6, -1, -1, 0.5, [1, 2], 1, 2, [1, 4], [2], 3,
                              [[10, 14], [14, 20]], [[1, 3], [2, 4]]]
    assert found["losses"][0] == found["losses"][1] and "3 given" in found["three"]
    assert found["images"] == [[2, 3, 3]] * 3
    assert found["rnn"] == [1, 2] and found["summary"] == "string"
    assert found["writer"] and not found["missing"]
    for line in ("tf.mul went with TensorFlow 1.0; the program gets tf.multiply.",
                 "tf.concat was given arguments as before TensorFlow 1.0",
                 "tf.train.SummaryWriter went with TensorFlow 1.0",
                 "tf.train.SyncReplicasOptimizer was given arguments as before TensorFlow 1.0"):
        assert run.stderr.count(line) == 1, line
