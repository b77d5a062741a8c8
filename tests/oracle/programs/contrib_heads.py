"""The heads of tf.contrib.estimator."""

import tensorflow as tf

SOAK = ("binary_evaluated", "binary_step", "logistic_step", "multi_class_evaluated",
        "multi_class_step", "multi_evaluated", "multi_label_evaluated",
        "multi_label_evaluated_names", "multi_label_step", "multi_label_step_loss_fn",
        "multi_label_step_sparse", "multi_label_step_strings", "multi_step", "poisson_step",
        "regression_evaluated", "regression_step")

_E = tf.contrib.estimator


def _step(head, labels, units, **options):
    """Returns what one training step over batch norm changes."""
    step = tf.train.create_global_step()
    x = tf.layers.batch_normalization(tf.constant([[5., 1.], [1., 2.]]), training=True,
                                      momentum=0.5, name="bn")
    logits = tf.layers.dense(x, units, kernel_initializer=tf.constant_initializer(0.5))
    spec = head.create_estimator_spec(
        {"w": tf.constant([[1.], [3.]])}, "train", logits, labels,
        optimizer=tf.train.GradientDescentOptimizer(0.1), **options)
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        loss, predictions = session.run([spec.loss, spec.predictions])
        session.run(spec.train_op)
        return {"loss": loss, "predictions": {str(key): predictions[key] for key in predictions},
                "step": session.run(step),
                "after": {each.op.name: session.run(each) for each in tf.global_variables()},
                "summaries": sorted(each.op.name for each in
                                    tf.get_collection(tf.GraphKeys.SUMMARIES))}


def _evaluated(head, logits, labels, **options):
    spec = head.create_estimator_spec({"w": tf.constant([[1.], [3.]])}, "eval",
                                      tf.constant(logits), labels, **options)
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer(),
                     tf.tables_initializer()])
        ops = spec.eval_metric_ops
        session.run({key: ops[key][1] for key in ops})
        return {"loss": session.run(spec.loss),
                "metrics": session.run({key: ops[key][0] for key in ops})}


def _predicted(head, logits):
    spec = head.create_estimator_spec({}, "infer", tf.constant(logits))
    with tf.Session() as session:
        session.run(tf.tables_initializer())
        exports = {}
        for key, output in spec.export_outputs.items():
            kind = type(output).__name__
            if kind == "PredictOutput":
                exports[key] = [kind, session.run(output.outputs)]
            elif kind == "RegressionOutput":
                exports[key] = [kind, session.run(output.value)]
            else:
                exports[key] = [kind, session.run(
                    [each for each in (output.scores, output.classes) if each is not None])]
        predictions = session.run(spec.predictions)
        return {"predictions": {str(key): predictions[key] for key in predictions},
                "exports": exports}


def multi_label_step():
    return _step(_E.multi_label_head(3), tf.constant([[0, 1, 1], [1, 0, 0]]), 3)


def multi_label_step_sum_weighted():
    head = _E.multi_label_head(2, weight_column="w", loss_reduction=tf.losses.Reduction.SUM,
                               name="h")
    return _step(head, tf.constant([[0, 1], [1, 0]]), 2,
                 regularization_losses=[tf.constant(1.5), tf.constant(0.25)])


def multi_label_step_sparse():
    labels = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [2, 0, 1], [2, 2])
    return _step(_E.multi_label_head(3), labels, 3)


def multi_label_step_strings():
    labels = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], ["b", "a", "c"], [2, 2])
    return _step(_E.multi_label_head(3, label_vocabulary=["a", "b", "c"]), labels, 3)


def multi_label_step_loss_fn():
    def loss_fn(labels, logits):
        return tf.reduce_sum(tf.abs(tf.cast(labels, tf.float32) - logits), 1, keepdims=True)

    return _step(_E.multi_label_head(2, loss_fn=loss_fn), tf.constant([[0, 1], [1, 0]]), 2)


def multi_label_evaluated():
    head = _E.multi_label_head(2, weight_column="w", thresholds=[0.3, 0.6],
                               classes_for_class_based_metrics=[0, 1])
    return _evaluated(head, [[-1., 1.], [-1.5, 1.5]], tf.constant([[1, 0], [1, 1]]),
                      regularization_losses=[tf.constant(2.)])


def multi_label_evaluated_names():
    head = _E.multi_label_head(2, label_vocabulary=["x", "y"], name="h",
                               classes_for_class_based_metrics=["y"])
    labels = tf.SparseTensor([[0, 0], [1, 0], [1, 1]], ["x", "y", "x"], [2, 2])
    return _evaluated(head, [[-1., 1.], [-1.5, 1.5]], labels)


def multi_label_predicted():
    return _predicted(_E.multi_label_head(2, label_vocabulary=["x", "y"]), [[-1., 1.], [2., 0.]])


def multi_label_of_one_class():
    _E.multi_label_head(1)


def multi_label_threshold_out_of_range():
    _E.multi_label_head(2, thresholds=[0.5, 1.])


def multi_label_wrong_vocabulary():
    _E.multi_label_head(2, label_vocabulary=["a"])


def multi_label_unknown_reduction():
    _E.multi_label_head(2, loss_reduction="nope")


def multi_label_class_out_of_range():
    _E.multi_label_head(2, classes_for_class_based_metrics=[2])


def multi_label_without_labels():
    _evaluated(_E.multi_label_head(2), [[-1., 1.], [2., 0.]], None)


def multi_label_labels_out_of_range():
    _evaluated(_E.multi_label_head(2), [[-1., 1.], [2., 0.]], tf.constant([[0, 2], [1, 0]]))


def multi_label_without_optimizer():
    _E.multi_label_head(2).create_estimator_spec(
        {}, "train", tf.zeros([2, 2]), tf.constant([[0, 1], [1, 0]]))


def logistic_step():
    return _step(_E.logistic_regression_head(), tf.constant([[1.], [0.25]]), 1)


def logistic_evaluated():
    return _evaluated(_E.logistic_regression_head(weight_column="w", name="h"), [[2.], [-1.]],
                      tf.constant([[1.], [0.]]))


def logistic_predicted():
    return _predicted(_E.logistic_regression_head(), [[2.], [-1.]])


def logistic_labels_out_of_range():
    _evaluated(_E.logistic_regression_head(), [[2.], [-1.]], tf.constant([[1.], [2.]]))


def poisson_step():
    return _step(_E.poisson_regression_head(), tf.constant([[1.], [3.]]), 1)


def poisson_step_short_loss():
    return _step(_E.poisson_regression_head(compute_full_loss=False, label_dimension=2),
                 tf.constant([[1., 2.], [3., 4.]]), 2)


def poisson_evaluated():
    return _evaluated(_E.poisson_regression_head(), [[2.], [-1.]], tf.constant([[1.], [0.]]))


def poisson_predicted():
    return _predicted(_E.poisson_regression_head(), [[2.], [-1.]])


def regression_step():
    return _step(_E.regression_head(label_dimension=2, weight_column="w"),
                 tf.constant([[1., 2.], [3., 4.]]), 2)


def regression_evaluated():
    return _evaluated(_E.regression_head(name="h"), [[2.], [-1.]], tf.constant([[1.], [0.]]))


def regression_inverse_link_predicted():
    return _predicted(_E.regression_head(inverse_link_fn=tf.exp), [[2.], [-1.]])


def binary_step():
    return _step(_E.binary_classification_head(weight_column="w"), tf.constant([[1.], [0.]]), 1)


def binary_evaluated():
    return _evaluated(_E.binary_classification_head(thresholds=[0.4]), [[2.], [-1.]],
                      tf.constant([[1.], [0.]]))


def binary_predicted():
    return _predicted(_E.binary_classification_head(label_vocabulary=["n", "y"]), [[2.], [-1.]])


def multi_class_step():
    return _step(_E.multi_class_head(3, loss_reduction=tf.losses.Reduction.SUM),
                 tf.constant([[2], [0]]), 3)


def multi_class_evaluated():
    return _evaluated(_E.multi_class_head(3, weight_column="w"), [[2., 0., 1.], [-1., 1., 0.]],
                      tf.constant([[0], [2]]))


def multi_class_predicted():
    return _predicted(_E.multi_class_head(3), [[2., 0., 1.], [-1., 1., 0.]])


def _both(**options):
    return _E.multi_head([_E.multi_label_head(2, name="a"), _E.regression_head(name="b")],
                         **options)


_LABELS = {"a": [[0, 1], [1, 0]], "b": [[1.], [2.]]}


def multi_step():
    labels = {key: tf.constant(value) for key, value in _LABELS.items()}
    return _step(_both(), labels, 3)


def multi_step_weighted():
    labels = {key: tf.constant(value) for key, value in _LABELS.items()}
    return _step(_both(head_weights=[1., 0.5]), labels, 3)


def multi_step_dict_of_logits():
    head, step = _both(head_weights=[1., 2.]), tf.train.create_global_step()
    x = tf.constant([[1.], [2.]])
    logits = {"a": tf.layers.dense(x, 2, kernel_initializer=tf.ones_initializer()),
              "b": tf.layers.dense(x, 1, kernel_initializer=tf.ones_initializer())}
    spec = head.create_estimator_spec(
        {}, "train", logits, {key: tf.constant(value) for key, value in _LABELS.items()},
        train_op_fn=lambda loss: tf.train.GradientDescentOptimizer(0.1).minimize(loss, step))
    with tf.control_dependencies([spec.train_op]):
        return [spec.loss, tf.identity(spec.loss)]


def multi_loss():
    found = _both(head_weights=[1., 0.5]).create_loss(
        {}, "eval", tf.constant([[1., 2., 3.], [0., 1., -1.]]),
        {key: tf.constant(value) for key, value in _LABELS.items()})
    return [found.training_loss, found.unreduced_loss, found.weights, found.processed_labels]


def multi_evaluated():
    return _evaluated(_both(head_weights=[1., 0.5]), [[1., 2., 3.], [0., 1., -1.]],
                      {key: tf.constant(value) for key, value in _LABELS.items()})


def multi_predicted():
    return [_predicted(_both(), [[1., 2., 3.], [0., 1., -1.]]), _both().name,
            _both().logits_dimension]


def multi_without_heads():
    _E.multi_head([])


def multi_without_a_name():
    _E.multi_head([_E.regression_head()])


def multi_of_other_weights():
    _E.multi_head([_E.regression_head(name="a")], head_weights=[1., 2.])


def multi_logits_of_another_size():
    _predicted(_both(), [[1., 2.]])


def multi_labels_no_dict():
    _evaluated(_both(), [[1., 2., 3.], [0., 1., -1.]], [1])
