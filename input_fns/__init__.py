"""Input plug-ins: one module, one way to read data.

A module `input_fns/NAME.py` defines

    DEFAULT_PARAMS = {"batch_size": 64}                 # a literal; types come from it

    GLOBAL_BATCH_PARAM = "batch_size"                   # optional, see the batch rule
    FREE_PARAMS = ("augment",)                          # optional, see docs/record.md

    def input_fn(mode, params, input_context=None):     # -> tf.data.Dataset
        ...

    def data_params(params):                            # optional -> dict
        ...

    def data_problem(params):                           # optional -> str
        ...

`input_fn` arguments, passed by name:
  mode: "train", "eval" or "infer" (the values of `tf.estimator.ModeKeys`).
  params: the params of model and input in one dict; every key of DEFAULT_PARAMS is there.
  input_context: a `tf.distribute.InputContext`, or None where one process reads all.

`input_fn` returns a dataset of `(features, labels)` batches: features is a dict of
`[batch, ...]` tensors, labels a `[batch, ...]` tensor. The function is called inside a
`tf.Graph` and eagerly, and must work in both. In mode "train" the dataset may repeat without
end; in "eval" and "infer" it has every record of its split once, in an order that never changes.
In "infer" it may have the features alone, so that data without labels can be predicted.

`data_params` returns what only the data knows, and reads a bounded number of records at most:
`num_classes`; `class_names`, texts in the order of the classes; `train_examples`, the number of
examples that "train" goes through in one epoch. It leaves out what it cannot know soon. What is
a param too fills it where the user has not given it, and is given from then on, by `record.json`.

`data_problem` is called after a step failed with an error of TensorFlow, which names no
file: a `tf.errors.OpError`, or a `UnicodeDecodeError` where the error quotes bytes. It reads
all training and evaluation files again, one record after the other, and returns the first
problem as one sentence with file and record, or "" if it finds none. Records are counted
from 1 in each file, lines of text as an editor counts them. It works inside any graph.

Batch rule: `batch_size` counts the examples of one global step. Each replica takes one
whole batch of the dataset, so a dataset batch is
`input_context.get_per_replica_batch_size(batch_size)`. A module that follows this rule names the
param by GLOBAL_BATCH_PARAM: then a default that the replicas cannot share is rounded up, and a
value of the user's that they cannot share is refused before a task starts.

Sharding rule: pipeline `input_context.input_pipeline_id` of
`input_context.num_input_pipelines` reads a part that no other pipeline reads; together they
read all. The parts differ by at most one record. Where nobody has counted the records of the
files, all pipelines read the same number of whole files, and a part of each file left over. The
dataset option `auto_shard_policy` is OFF, so that nothing shards a second time.

A mistake of the user raises an exception with `exit_code = 2` whose text is one sentence; a
file that is missing or bad raises one with `exit_code = 1`.
"""
