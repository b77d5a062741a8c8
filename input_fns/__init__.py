"""Input plug-ins: one module, one way to read data.

A module `input_fns/NAME.py` defines

    DEFAULT_PARAMS = {"batch_size": 64}                 # a literal; types come from it

    GLOBAL_BATCH_PARAM = "batch_size"                   # optional, see the batch rule
    FREE_PARAMS = ("augment",)                          # optional, see docs/record.md
    TRAINS_UNTIL = "no_improvement"                     # optional, see docs/job_ends.md

    def input_fn(mode, params, input_context=None):     # -> tf.data.Dataset
        ...

    def data_params(params):                            # optional -> dict
        ...

    def data_problem(params):                           # optional -> str
        ...

    def compared_columns(params):                       # optional -> dict
        ...

    DATA = "tables"                                     # optional, for `list`: what it reads
    FIRST_PARAMS = ("train_files", "label")             # optional, for `list`: set these first
    INSPECTION = "input_fns.reading.table_inspection"   # optional, a module, see below

`input_fn` arguments, passed by name:
  mode: "train", "eval" or "infer" (the values of `tf.estimator.ModeKeys`).
  params: the params of model and input in one dict; every key of DEFAULT_PARAMS is there.
  input_context: a `tf.distribute.InputContext`, or None where one process reads all.

`input_fn` returns a dataset of `(features, labels)` batches: features is a dict of
`[batch, ...]` tensors, labels a `[batch, ...]` tensor. The function is called inside a
`tf.Graph` and eagerly, and must work in both. In mode "train" the dataset may repeat without
end; in "eval" and "infer" it has every record of its split once, in an order that never changes.
In "infer" it may have the features alone, so that data without labels can be predicted.

`data_params` returns facts that only the data knows, and reads a bounded number of records:
`num_classes`; `class_names`, texts in the order of the classes; `train_examples`, the number of
examples in one epoch of "train". It leaves out what would take long to find out. A fact that has
the name of a param becomes its value, unless the user has set it; `record.json` keeps the value.

`data_problem` is called after a step failed with a TensorFlow error, which names no file: a
`tf.errors.OpError`, or a `UnicodeDecodeError` where the error quotes bytes. It reads all training
and evaluation files again, record by record, and returns the first problem as one sentence with
file and record, or "" if it finds none. Records are counted from 1 in each file, lines of text as
an editor counts them. It must work inside any graph.

`compared_columns` returns the columns of the evaluation beside those of the training, for the page
of a run; `input_fns/reading/table_drift.py` has its entries. It reads a bounded number of records.

The module that INSPECTION names looks into the data without TensorFlow, for `check` and `init`:

    def described(params, is_quick):   # -> dict, all entries optional
    def starting_params(data):         # -> dict, or None
    def labels(params):                # -> list of str

`described` takes part of a second if `is_quick`, and says what it left out. Its `facts` are texts
or lists of texts by subject; `warnings` sentences; `num_classes` the number of classes, -1 where
the label is a number, 0 if unknown; `params` what a project may have in its source, such as
`class_names`; `naive_loss` the loss of one answer for all examples of the evaluation: the shares of
the classes (cross-entropy), or the mean (squared error). `starting_params` returns the params that
name the file or folder `data`, None if the module reads no such data; `labels` the names among
which the user chooses the label. A user's mistake is an exception as below.

Batch rule: `batch_size` counts the examples of one global step. Each replica takes one
whole batch of the dataset, so a dataset batch is
`input_context.get_per_replica_batch_size(batch_size)`. A module that follows this rule names the
param in GLOBAL_BATCH_PARAM: a default that does not divide by the number of replicas is then
rounded up, and a user's value that does not is rejected before a task starts.

Sharding rule: pipeline `input_context.input_pipeline_id` of
`input_context.num_input_pipelines` reads a part that no other pipeline reads; together they
read all. The parts differ by at most one record. If the number of records is not known, all
pipelines read the same number of whole files, and share each remaining file. The dataset option
`auto_shard_policy` is OFF, so that TensorFlow does not shard a second time.

A user's mistake raises an exception with `exit_code = 2` whose text is one sentence; a missing or
damaged file raises one with `exit_code = 1`.
"""
