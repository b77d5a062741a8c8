"""tf.contrib.layers and tf.contrib.slim: layers, losses, optimizers, nets, training."""

import tempfile

import numpy as np
import tensorflow as tf
from tensorflow.contrib.slim.nets import (alexnet, inception, overfeat, resnet_utils, resnet_v1,
                                          resnet_v2, vgg)

SOAK = ("metrics", "net_alexnet", "net_inception_v1", "net_inception_v2", "net_inception_v3",
        "net_overfeat", "net_resnet_v1", "net_resnet_v2", "net_vgg", "slim_training",
        "batch_norm_renorm", "separable", "optimizers_by_name", "slim_evaluation")
layers, slim = tf.contrib.layers, tf.contrib.slim


def _image(channels=2):
    numbers = np.linspace(-1., 1., 50 * channels, dtype=np.float32)
    return tf.constant(numbers.reshape(2, 5, 5, channels))


def _flat():
    return tf.constant([[1., -2., 3.], [0., .5, -1.]])


def _ramp(scale=.01):
    def initialize(shape, dtype=tf.float32, partition_info=None):
        count = int(np.prod(shape))
        return tf.constant((np.arange(count) % 7 - 3.) * scale, dtype, shape)
    return initialize


def _ends(name="end"):
    return sorted(tensor.op.name for tensor in tf.get_collection(name))


def fully_connected():
    return layers.fully_connected(_flat(), 4)


def fully_connected_with_options():
    found = layers.fully_connected(
        _flat(), 2, activation_fn=tf.tanh, normalizer_fn=layers.batch_norm,
        normalizer_params={"is_training": True, "scale": True}, weights_initializer=_ramp(.1),
        weights_regularizer=layers.l2_regularizer(.5), variables_collections={"weights": ["w"]},
        outputs_collections="end", scope="fc")
    return [found, _ends(), [each.op.name for each in tf.get_collection("w")],
            tf.losses.get_regularization_losses(),
            sorted(each.op.name for each in tf.get_collection(tf.GraphKeys.UPDATE_OPS))]


def linear_relu_and_friends():
    return [layers.linear(_flat(), 2, weights_initializer=_ramp(.1)),
            layers.relu(_flat(), 2, weights_initializer=_ramp(.1)),
            layers.relu6(_flat(), 2, weights_initializer=_ramp(.1)),
            layers.elu(_flat(), 2, weights_initializer=_ramp(.1))]


def conv2d():
    return layers.conv2d(_image(), 3, [3, 3], stride=2, padding="VALID")


def conv2d_dilated():
    return layers.conv2d(_image(), 3, 3, rate=2, weights_initializer=_ramp(), scope="c",
                         biases_initializer=tf.ones_initializer())


def conv2d_without_bias():
    return [layers.conv2d(_image(), 3, 1, biases_initializer=None, activation_fn=None),
            [each.op.name for each in slim.get_model_variables()]]


def conv2d_transpose():
    return layers.conv2d_transpose(_image(), 3, 3, stride=2, weights_initializer=_ramp())


def conv1d_and_3d():
    return [layers.conv1d(tf.reshape(tf.range(24.), [2, 6, 2]), 3, 3, weights_initializer=_ramp()),
            layers.conv3d(tf.reshape(tf.range(32.), [1, 2, 4, 2, 2]), 2, 2,
                          weights_initializer=_ramp())]


def conv_in_plane():
    return layers.conv2d_in_plane(_image(), 3, weights_initializer=_ramp())


def separable():
    return [layers.separable_conv2d(_image(), 4, 3, 2, weights_initializer=_ramp()),
            layers.separable_conv2d(_image(), None, 3, 1, weights_initializer=_ramp())]


def pools():
    return [layers.max_pool2d(_image(), 2), layers.avg_pool2d(_image(), [3, 3], 1, "SAME"),
            slim.pool(_image(), 2, "AVG", stride=2), layers.max_pool3d(
                tf.reshape(tf.range(16.), [1, 2, 2, 2, 2]), 2)]


def dropout():
    return [layers.dropout(_flat(), .5, is_training=False), layers.dropout(_flat(), .5, seed=3)]


def flatten_and_one_hot():
    return [layers.flatten(_image()), layers.one_hot_encoding([0, 2], 3, on_value=2.),
            layers.unit_norm(_flat(), 1), layers.maxout(tf.constant([[1., 5., 2., 3.]]), 2),
            layers.softmax(_flat()), layers.bias_add(_flat(), tf.ones_initializer())]


def stack_and_repeat():
    return [layers.stack(_flat(), layers.fully_connected, [3, 2], scope="s",
                         weights_initializer=_ramp(.1)),
            layers.repeat(_flat(), 2, layers.fully_connected, 3, scope="r",
                          weights_initializer=_ramp(.1))]


def batch_norm():
    found = layers.batch_norm(_image(), center=True, scale=True, decay=.9)
    updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
    with tf.control_dependencies(updates):
        moving = [tf.identity(each.read_value()) for each in tf.moving_average_variables()] or [
            tf.identity(each.read_value()) for each in slim.get_variables_by_suffix("mean")]
    return [found, len(updates), moving]


def batch_norm_in_place():
    found = layers.batch_norm(_image(), updates_collections=None, decay=.5, epsilon=.01)
    with tf.control_dependencies([found]):
        return [found, [each.read_value() for each in slim.get_model_variables()]]


def batch_norm_evaluated():
    return layers.batch_norm(_image(), is_training=False, scale=True, fused=False)


def batch_norm_by_a_tensor():
    mode = tf.placeholder_with_default(True, [])
    return layers.batch_norm(_image(), is_training=mode, fused=False)


def batch_norm_of_vectors():
    return layers.batch_norm(_flat(), zero_debias_moving_mean=True, activation_fn=tf.nn.relu)


def batch_norm_renorm():
    found = layers.batch_norm(_image(), renorm=True, fused=False, renorm_decay=.9)
    return [found, sorted(each.op.name for each in tf.global_variables())]


def other_norms():
    return [layers.layer_norm(_flat()), layers.instance_norm(_image()),
            layers.group_norm(_image(4), 2), layers.layer_norm(_image(), begin_norm_axis=2)]


def regularizers():
    x = tf.constant([[1., -2.], [3., 0.]])
    mixed = layers.l1_l2_regularizer(.1, .2)
    return [layers.l1_regularizer(.5)(x), layers.l2_regularizer(.5)(x), mixed(x),
            layers.sum_regularizer([layers.l1_regularizer(.5), mixed])(x),
            layers.apply_regularization(mixed, [tf.get_variable("w", initializer=x)])]


def regularizer_mistakes():
    found = []
    for make in (lambda: layers.l2_regularizer(-1.), lambda: layers.l1_regularizer(1),
                 lambda: layers.fully_connected(tf.constant(1.), 2),
                 lambda: layers.conv2d(_flat(), 2, 3), lambda: layers.batch_norm(tf.zeros([])),
                 lambda: layers.optimize_loss(None, None, None, "SGD")):
        try:
            make()
            found.append(None)
        except Exception as error:  # pylint: disable=broad-except
            found.append(type(error).__name__)
    return found


def initializers():
    return [layers.xavier_initializer(seed=3)([3, 4]),
            layers.xavier_initializer(uniform=False, seed=3)([3, 3, 2, 4]),
            layers.variance_scaling_initializer(seed=3)([3, 4]),
            layers.variance_scaling_initializer(1., "FAN_AVG", True, seed=3)([3, 4])]


def initializers_by_the_graph():
    return [tf.get_variable("a", [3, 4], initializer=layers.xavier_initializer()),
            layers.fully_connected(_flat(), 2, scope="fc"),
            layers.conv2d(_image(), 2, 3, scope="conv")]


def _optimized(optimizer, steps=1, **options):
    weight = tf.get_variable("w", initializer=tf.constant([1., -2.]))
    loss = tf.reduce_sum(tf.square(weight))
    step = tf.train.get_or_create_global_step()
    op = layers.optimize_loss(loss, step, .1, optimizer, **options)
    with tf.control_dependencies([op]):
        return [weight.read_value(), step.read_value(), op.shape]


def optimize_loss():
    return _optimized("SGD")


def optimize_loss_with_options():
    return _optimized(
        lambda rate: tf.train.AdamOptimizer(rate), clip_gradients=1.,
        gradient_multipliers={"w": .5}, increment_global_step=False,
        learning_rate_decay_fn=lambda rate, step: rate * .5, summaries=["loss", "learning_rate"])


def optimize_loss_summaries():
    _optimized("Adagrad", summaries=layers.OPTIMIZER_SUMMARIES)
    return sorted(each.op.name for each in tf.get_collection(tf.GraphKeys.SUMMARIES))


def optimizers_by_name():
    found = {}
    for name in sorted(layers.OPTIMIZER_CLS_NAMES):
        with tf.variable_scope(name):
            found[name] = _optimized(name)[0]
    return found


def summaries():
    layers.summarize_tensor(tf.constant(1.), "a")
    layers.summarize_tensor(tf.constant([1., 2.]), "b")
    layers.summarize_activation(tf.nn.relu(_flat(), name="r"))
    tf.add_to_collection("mine", tf.constant(2., name="c"))
    layers.summarize_collection("mine")
    return sorted(each.op.name for each in tf.get_collection(tf.GraphKeys.SUMMARIES))


def arg_scopes():
    with slim.arg_scope([slim.conv2d, slim.fully_connected], activation_fn=None,
                        weights_initializer=_ramp()):
        with slim.arg_scope([slim.conv2d], padding="VALID") as scope:
            slim.conv2d(_image(), 2, 3, scope="a")
    with slim.arg_scope(scope):
        found = slim.conv2d(_image(), 2, 3, scope="b")
    return [found, slim.has_arg_scope(slim.conv2d), sorted(
        slim.arg_scoped_arguments(slim.bias_add))]


def variables():
    with slim.arg_scope([slim.variable], device="/cpu:0"):
        first = slim.variable("a", [2], initializer=tf.ones_initializer(), regularizer=lambda x:
                              slim.l2_regularizer(.5)(x), collections=["mine"])
    slim.model_variable("m", [1], initializer=tf.zeros_initializer(), trainable=False)
    slim.local_variable(3., name="l")
    return [first, slim.losses.get_regularization_losses(),
            [each.op.name for each in slim.get_variables()],
            [each.op.name for each in slim.get_model_variables()],
            [each.op.name for each in slim.get_local_variables()],
            [each.op.name for each in slim.get_variables_to_restore(exclude=["m"])],
            [each.op.name for each in tf.contrib.framework.filter_variables(
                tf.global_variables(), ["a"])],
            slim.get_unique_variable("m").op.name, slim.get_or_create_global_step().op.name]


def losses():
    labels, logits = tf.constant([[1., 0.], [0., 1.]]), tf.constant([[2., -1.], [.5, 0.]])
    found = [slim.losses.softmax_cross_entropy(logits, labels, weights=2., label_smoothing=.1),
             slim.losses.sigmoid_cross_entropy(logits, labels),
             slim.losses.sparse_softmax_cross_entropy(logits, [0, 1]),
             slim.losses.log_loss(tf.sigmoid(logits), labels),
             slim.losses.hinge_loss(logits, labels),
             slim.losses.mean_squared_error(logits, labels, weights=[1., 0.]),
             slim.losses.mean_pairwise_squared_error(logits, labels),
             slim.losses.absolute_difference(logits, labels),
             slim.losses.cosine_distance(tf.nn.l2_normalize(logits, 1), labels, dim=1)]
    slim.losses.add_loss(tf.constant(3.))
    return found + [slim.losses.get_total_loss(), len(slim.losses.get_losses())]


def metric_losses():
    embeddings = tf.constant([[1., 0.], [.8, .6], [0., 1.], [-.6, .8]])
    labels = tf.constant([0, 0, 1, 1])
    found = tf.contrib.losses.metric_learning
    return [found.contrastive_loss(tf.constant([1., 0.]), embeddings[:2], embeddings[2:]),
            found.triplet_semihard_loss(labels, embeddings), found.npairs_loss(
                tf.constant([0, 1]), embeddings[:2], embeddings[2:]),
            found.lifted_struct_loss(labels, embeddings)]


def metrics():
    predictions, labels = tf.constant([1, 0, 1, 1]), tf.constant([1, 1, 0, 1])
    scores = tf.constant([.9, .4, .6, .8])
    m = tf.contrib.metrics
    pairs = [m.streaming_accuracy(predictions, labels), m.streaming_precision(predictions, labels),
             m.streaming_recall(predictions, labels), m.streaming_auc(scores, labels),
             m.streaming_mean(scores, weights=[1., 0., 2., 1.]),
             m.streaming_mean_squared_error(scores, tf.cast(labels, tf.float32)),
             m.streaming_mean_iou(predictions, labels, 2),
             m.streaming_recall_at_k(tf.constant([[.1, .2, .7], [.5, .3, .2]]), [2, 1], 2),
             m.streaming_sparse_precision_at_k(tf.constant([[.1, .2, .7]]), tf.constant(
                 [[2]], tf.int64), 1), m.streaming_pearson_correlation(scores, scores * 2.),
             m.streaming_false_positives(predictions, labels), m.cohen_kappa(
                 labels, predictions, 2), m.f1_score(labels, scores)]
    values, updates = m.aggregate_metrics(*pairs)
    return [list(updates), m.accuracy(predictions, labels), m.confusion_matrix(
        labels, predictions), m.streaming_concat(scores)[1]]


def metric_maps():
    names, updates = slim.metrics.aggregate_metric_map({
        "a": slim.metrics.streaming_accuracy([1, 0], [1, 1]),
        "b": slim.metrics.streaming_mean([1., 3.])})
    return [sorted(names), {key: updates[key] for key in sorted(updates)}]


def slim_training():
    weight = slim.variable("w", [], initializer=tf.ones_initializer())
    slim.losses.mean_squared_error(weight * 2., tf.constant(6.))
    train_op = slim.learning.create_train_op(
        slim.losses.get_total_loss(), tf.train.GradientDescentOptimizer(.05),
        gradient_multipliers={weight: .5}, clip_gradient_norm=4.)
    folder = tempfile.mkdtemp()
    loss = slim.learning.train(train_op, folder, number_of_steps=5, log_every_n_steps=2,
                               save_summaries_secs=0, save_interval_secs=0)
    return [float(loss), tf.train.load_variable(folder, "w"),
            int(tf.train.load_variable(folder, "global_step"))]


def slim_evaluation():
    folder = tempfile.mkdtemp()
    with tf.Graph().as_default(), tf.Session() as session:
        slim.get_or_create_global_step()
        tf.get_variable("w", initializer=tf.constant(3.))
        session.run(tf.global_variables_initializer())
        path = tf.train.Saver().save(session, folder + "/model", global_step=1)
    weight = tf.get_variable("w", [])
    slim.get_or_create_global_step()
    value, update = slim.metrics.streaming_mean(weight)
    return float(slim.evaluation.evaluate_once("", path, tempfile.mkdtemp(), num_evals=2,
                                               eval_op=update, final_op=value))


def _net(build, size, **options):
    found, points = build(tf.zeros([1, size, size, 3]), num_classes=5, **options)
    return [found.shape, {name: each.shape for name, each in points.items()},
            len(tf.global_variables())]


def net_vgg():
    return _net(vgg.vgg_a, 224)


def net_alexnet():
    return _net(alexnet.alexnet_v2, 224)


def net_overfeat():
    return _net(overfeat.overfeat, 231)


def net_resnet_v1():
    with slim.arg_scope(resnet_utils.resnet_arg_scope()):
        return _net(resnet_v1.resnet_v1_50, 64)


def net_resnet_v2():
    return _net(resnet_v2.resnet_v2_50, 65, global_pool=False, output_stride=8)


def net_inception_v1():
    return _net(inception.inception_v1, 224)


def net_inception_v2():
    return _net(inception.inception_v2, 224)


def net_inception_v3():
    return _net(inception.inception_v3, 299)
