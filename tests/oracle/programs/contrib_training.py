"""tf.contrib.training without HParams."""

import os
import tempfile
import time

from _ended import outcome as _error
import numpy as np
import tensorflow as tf

training = tf.contrib.training
SOAK = ("sequences_of_a_state_saving_rnn", "sequences_with_states",
        "sequences_with_states_and_sparse_ones", "sequences_with_states_not_padded",
        "sequences_with_states_of_a_length", "sequences_with_states_of_unique_keys",
        "state_saver", "state_saver_of_a_longer_length", "state_saver_saves_another_shape",
        "stratified_runtime_mistakes", "train_and_evaluate_repeatedly")


def _through(fetches, most=20):
    """Returns what a queue gives until its end."""
    found = []
    with tf.train.MonitoredSession() as session:
        while not session.should_stop() and len(found) < most:
            found.append(session.run(fetches))
    return found


def _numbers(limit):
    return tf.train.range_input_producer(limit, num_epochs=1, shuffle=False).dequeue()


def _graph():
    """Takes a graph without the runner's seed, and leaves no queue runners in the runner's own."""
    return tf.Graph().as_default()


def bucket_of_numbers():
    with _graph():
        number = _numbers(11)
        which, batch = training.bucket([number], number % 2, 2, 2)
        found = _through([which, batch])
    return sorted([int(which), np.array(batch).tolist()] for which, batch in found)


def bucket_with_a_smaller_last_batch():
    with _graph():
        number = _numbers(11)
        which, batch = training.bucket({"a": number, "b": number * 10}, number % 2, 4, 2,
                                       allow_smaller_final_batch=True)
        shapes = [batch["a"].shape, batch["b"].shape]
        found = _through([which, batch])
    return [shapes, sorted([int(which), batch["a"].tolist(), batch["b"].tolist()]
                           for which, batch in found)]


def bucket_with_sizes():
    with _graph():
        number = _numbers(12)
        which, batch = training.bucket([number], number % 2, [2, 3], 2,
                                       bucket_capacities=[4, 6])
        found = _through([which, batch])
    return [batch.shape, sorted([int(which), batch.tolist()] for which, batch in found)]


def bucket_keeps():
    with _graph():
        number = _numbers(12)
        found = _through(training.bucket([number], 0, 2, 1, keep_input=number > 5))
    return [[int(which), batch.tolist()] for which, batch in found]


def bucket_pads():
    with _graph():
        number = _numbers(6)
        found = _through(training.bucket([tf.range(number)], number % 2, 3, 2, dynamic_pad=True)[1])
    return sorted(batch.tolist() for batch in found)


def bucket_of_sparse():
    with _graph():
        number = _numbers(4)
        sparse = tf.SparseTensor([[0, 1]], tf.expand_dims(number, 0), [2, 3])
        _, batch = training.bucket([number, sparse], 0, 2, 1)
        found = _through(batch)
    return found


def bucket_names():
    number = _numbers(4)
    which, batch = training.bucket([number], number % 2, 2, 2, name="mine")
    return [which.name, batch.name, which.dtype, batch.dtype, batch.shape,
            [each.name for each in tf.get_collection(tf.GraphKeys.QUEUE_RUNNERS)],
            sorted(each.op.name for each in tf.get_collection(tf.GraphKeys.SUMMARIES))]


def bucket_mistakes():
    number = tf.constant(1)
    return [_error(training.bucket, [number], 0, [1], 2),
            _error(training.bucket, [number], 0, 1, 2, bucket_capacities=[1]),
            _error(training.bucket, [], 0, 1, 2), _error(training.bucket, 3, 0, 1, 2),
            _error(training.bucket, [tf.placeholder(tf.float32)], 0, 1, 2),
            _error(training.bucket, [tf.placeholder(tf.float32, [None])], 0, 1, 2)]


def bucket_by_length():
    with _graph():
        number = _numbers(12)
        length, batch = training.bucket_by_sequence_length(
            number, [tf.range(number)], 2, [3, 6], dynamic_pad=True,
            allow_smaller_final_batch=True)
        found = _through([length, batch])
    return sorted([length.tolist(), batch[0].tolist()] for length, batch in found)


def bucket_by_length_of_a_dict():
    with _graph():
        number = _numbers(8)
        length, batch = training.bucket_by_sequence_length(
            number, {"x": tf.fill([number], number), "y": number}, [2, 1], [4], dynamic_pad=True,
            capacity=8)
        shapes = [length.shape, batch["x"].shape, batch["y"].shape]
        found = _through([length, batch])
    return [shapes, sorted([length.tolist(), batch["x"].tolist(), batch["y"].tolist()]
                           for length, batch in found)]


def bucket_by_length_mistakes():
    mistakes = [3, [], [3, 2], [2, 2], [1.5, 2], [1], (1, 2)]
    return [_error(lambda at: training.bucket_by_sequence_length(
        2, [tf.constant(1)], 1, at) and None, at) for at in mistakes]


def rejection_takes_all():
    with _graph():
        number = _numbers(6)
        found = _through(training.rejection_sample([number, number * 2], lambda x: 1.0, 3))
    return found


def rejection_takes_some():
    with _graph():
        many = tf.train.range_input_producer(4, num_epochs=1, shuffle=False).dequeue()
        data = tf.stack([many, many + 10])
        batch = training.rejection_sample(
            [data, data], lambda x: tf.cast(x[0] >= 10, tf.float32), 2, enqueue_many=True,
            runtime_checks=True, name="mine")
        found = _through(batch)
    return [[each.name for each in batch], found]


def rejection_mistakes():
    return [_error(training.rejection_sample, [tf.zeros([2]), tf.zeros([3])], lambda x: 1.0, 1,
                   enqueue_many=True),
            _error(training.rejection_sample, [tf.zeros([])], lambda x: 1.0, 1, enqueue_many=True)]


def stratified_takes_one_class():
    with _graph():
        number = _numbers(8)
        (data,), labels = training.stratified_sample(
            [number], number % 2, [0., 1.], 2, init_probs=[.5, .5])
        found = _through([data, labels])
    return [data.shape, labels.shape, found]


def stratified_takes_all():
    with _graph():
        number = _numbers(8)
        (data, same), labels = training.stratified_sample(
            [tf.stack([number, number]), tf.stack([number, number])], tf.stack([0, 1]),
            [.5, .5], 4, init_probs=[.5, .5], enqueue_many=True)
        found = _through([data, same, labels])
    return found


def stratified_estimates():
    tensors, labels = training.stratified_sample([tf.zeros([4, 2])], tf.constant([0, 1, 1, 2]),
                                                 [.2, .3, .5], 3, enqueue_many=True)
    return [tensors[0].shape, labels.dtype, [v.name for v in tf.global_variables()]]


def stratified_mistakes():
    sample, data, label = training.stratified_sample, [tf.zeros([3])], tf.constant(1)
    return [_error(sample, data, label, [.5, .5], 2, init_probs=[.2, .3, .5]),
            _error(sample, data, tf.zeros([2], tf.int32), [.5, .5], 2, init_probs=[.5, .5]),
            _error(sample, data, tf.zeros([], tf.int32), [.5, .5], 2, init_probs=[.5, .5],
                   enqueue_many=True),
            _error(sample, data, tf.zeros([4], tf.int32), [.5, .5], 2, init_probs=[.5, .5],
                   enqueue_many=True),
            _error(sample, 3, label, [.5, .5], 2)]


def stratified_runtime_mistakes():
    def run(target, init, labels=(0, 1)):
        with _graph():
            found = training.stratified_sample([tf.zeros([2])], tf.constant(labels), target, 1,
                                               init_probs=init, enqueue_many=True)
            runners = tf.get_collection(tf.GraphKeys.QUEUE_RUNNERS)
            with tf.Session() as session:
                session.run(runners[0].enqueue_ops[0])
        return len(found)
    return [_error(run, [.5, .5], [.5, .5]), _error(run, [.5, .4], [.5, .5]),
            _error(run, [.5, .5], [.5, .6]), _error(run, [1.5, -.5], [.5, .5]),
            _error(run, [.5, .5], [.5, .5], (0, 2)), _error(run, [.5, .5], [.5, .5], (-1, 0))]


def resample_none():
    return training.resample_at_rate([tf.constant([1, 2, 3]), tf.constant([[1.], [2.], [3.]])],
                                     [0., 0., 0.])


def resample_mean():
    found = training.resample_at_rate([tf.range(3)], [0., 50., 100.], seed=3)[0]
    return [tf.reduce_min(found), tf.abs(tf.size(found) - 150) < 60]


def weighted_resample_names():
    found, rates = training.weighted_resample([tf.range(3)], tf.constant([0., 1., 2.]), 100.)
    return [len(found), tf.reduce_max(rates), tf.reduce_min(found[0]),
            [[v.name, v.shape] for v in tf.local_variables()]]


def random_strategy():
    names = ["a", "b/c", "weights", "layer_%d", u"\u00e9"]

    class _Op(object):
        def __init__(self, name):
            self.name = name

    return [[training.RandomStrategy(count, seed)(_Op(name)) for name in names]
            for count, seed in ((3, 0), (7, 5), (1, 1))]


def greedy_strategy():
    strategy = training.GreedyLoadBalancingStrategy(2, training.byte_size_load_fn)
    with tf.device(tf.train.replica_device_setter(ps_tasks=2, ps_strategy=strategy)):
        made = [tf.Variable(tf.zeros(shape)) for shape in ([4], [], [2, 2], [3], [1])]
    return [each.device for each in made]


def byte_sizes():
    load = training.byte_size_load_fn
    return [load(tf.zeros([2, 3]).op), load(tf.zeros([], tf.float64).op),
            _error(load, tf.no_op()), _error(load, tf.placeholder(tf.float32).op),
            _error(load, tf.unique([1, 2]).y.op)]


def _train_op(**kwargs):
    tf.train.create_global_step()
    weight = tf.get_variable("w", initializer=[1., 2.])
    loss = tf.reduce_sum(tf.square(weight))
    return training.create_train_op(loss, tf.train.GradientDescentOptimizer(.1), **kwargs)


def clips_gradients():
    op = _train_op(transform_grads_fn=training.clip_gradient_norms_fn(1.0))
    with tf.control_dependencies([op]):
        return tf.global_variables()[1].read_value()


def multiplies_gradients():
    op = _train_op(transform_grads_fn=lambda grads: training.multiply_gradients(grads, {"w": 2.}))
    with tf.control_dependencies([op]):
        return tf.global_variables()[1].read_value()


def train_op_names():
    op = _train_op(summarize_gradients=True)
    return [op.name, [each.name for each in tf.get_collection(tf.GraphKeys.TRAIN_OP)],
            sorted(each.op.name for each in tf.get_collection(tf.GraphKeys.SUMMARIES))]


def train_op_with_updates():
    count = tf.get_variable("count", initializer=0., trainable=False)
    tf.add_to_collection(tf.GraphKeys.UPDATE_OPS, tf.assign_add(count, 1.))
    op = _train_op()
    with tf.control_dependencies([op]):
        return count.read_value()


def trains_to_the_last_step():
    # The loss of a reference variable is read before or after the update.
    with _graph(), tf.variable_scope(tf.get_variable_scope(), use_resource=True):
        op = _train_op()
        loss = training.train(op, None, hooks=[tf.train.StopAtStepHook(num_steps=5)],
                              save_summaries_steps=None, save_checkpoint_secs=None)
    return loss


def train_mistakes():
    op = _train_op()
    return [_error(training.train, op, None), _error(training.train, op, None,
                                                     save_summaries_steps=None)]


def _checkpoint(folder, value):
    with tf.Graph().as_default(), tf.Session() as session:
        variable = tf.get_variable("v", initializer=float(value))
        step = tf.train.create_global_step()
        session.run(tf.global_variables_initializer())
        session.run(tf.assign(step, value))
        del variable
        return tf.train.Saver().save(session, os.path.join(folder, "model.ckpt"), global_step=step)


def evaluates_once():
    path = _checkpoint(tempfile.mkdtemp(), 3)
    with _graph():
        variable = tf.get_variable("v", initializer=0.)
        tf.train.create_global_step()
        total = tf.get_local_variable("total", initializer=0.)
        fed = tf.placeholder(tf.float32, [])
        return training.evaluate_once(
            path, scaffold=tf.train.Scaffold(), eval_ops=tf.assign_add(total, variable * fed),
            feed_dict={fed: 2.}, final_ops={"total": total, "v": variable},
            hooks=[training.StopAfterNEvalsHook(4)], config=tf.ConfigProto())


def evaluates_final_ops_alone():
    path = _checkpoint(tempfile.mkdtemp(), 3)
    with _graph():
        variable = tf.get_variable("v", initializer=0.)
        fed = tf.placeholder(tf.float32, [])
        tf.train.create_global_step()
        return training.evaluate_once(path, final_ops=[variable * fed, tf.constant("a")],
                                      final_ops_feed_dict={fed: 2.})


def evaluates_each_checkpoint():
    folder, seen = tempfile.mkdtemp(), []
    _checkpoint(folder, 3)
    with _graph():
        variable = tf.get_variable("v", initializer=0.)
        tf.train.create_global_step()
        found = training.evaluate_repeatedly(
            folder, eval_ops=variable, final_ops=variable, hooks=[training.StopAfterNEvalsHook(1)],
            eval_interval_secs=0, max_number_of_evaluations=2, timeout=.2,
            timeout_fn=lambda: seen.append(1) or True)
    return [found, seen, training.wait_for_new_checkpoint(folder, "none", timeout=.1)[-12:],
            [each[-12:] for each in training.checkpoints_iterator(folder, timeout=.1)]]


def eval_steps():
    step = training.get_or_create_eval_step()
    return [step.name, step.dtype, training.get_or_create_eval_step() is step]


def summary_at_the_end():
    folder = tempfile.mkdtemp()
    path = _checkpoint(folder, 3)
    with _graph():
        variable = tf.get_variable("v", initializer=0.)
        tf.train.create_global_step()
        tf.summary.scalar("v", variable)
        training.evaluate_once(path, eval_ops=variable, hooks=[
            training.StopAfterNEvalsHook(1), training.SummaryAtEndHook(folder)])
    events = [name for name in os.listdir(folder) if "tfevents" in name]
    return [[event.step, [[value.tag, value.simple_value] for value in event.summary.value]]
            for name in events for event in tf.train.summary_iterator(os.path.join(folder, name))
            if event.summary.value]


def train_and_evaluate_repeatedly():
    folder = tempfile.mkdtemp()
    with _graph():
        training.train(_train_op(), folder, hooks=[tf.train.StopAtStepHook(num_steps=5)])
    with _graph():
        variable = tf.get_variable("w", initializer=[0., 0.])
        tf.train.get_or_create_global_step()
        return training.evaluate_repeatedly(folder, final_ops=variable, timeout=1,
                                            max_number_of_evaluations=1)


def from_modules():
    from tensorflow.contrib.training.python.training import evaluation, training as inner
    return [evaluation.evaluate_once is training.evaluate_once, inner.train is training.train]


def _examples():
    lengths = tf.data.Dataset.from_tensor_slices([5, 2, 4, 7])
    return lengths.map(lambda length: (tf.strings.as_string(length), tf.reshape(
        tf.range(2 * length), [length, 2]), length)).make_one_shot_iterator().get_next()


def _until_the_end(fetches, most=20):
    found = []
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coordinator)
        # A batch that waits while the last sequence comes in may wait for ever.
        used = -1.
        while time.process_time() - used > .01:
            used = time.process_time()
            time.sleep(.5)
        try:
            for _ in range(most):
                found.append(session.run(fetches))
        except tf.errors.OutOfRangeError:
            pass
        finally:
            coordinator.request_stop()
            coordinator.join(threads, stop_grace_period_secs=10, ignore_live_threads=True)
    return found


def _parts(batch, new_state):
    state = batch.state("state")
    return [batch.key, batch.next_key, batch.length, batch.total_length, batch.sequence,
            batch.sequence_count, batch.batch_size, batch.insertion_index, batch.context,
            batch.sequences, state, batch.save_state("state", new_state(state))]


def sequences_with_states():
    key, sequence, length = _examples()
    sequence.set_shape([None, 2])
    batch = tf.contrib.training.batch_sequences_with_states(
        key, {"x": sequence, "y": tf.strings.as_string(sequence)},
        {"length": length, "many": tf.stack([length, 1])}, None, {"state": tf.constant([0., 1.])},
        num_unroll=3, batch_size=2, num_threads=1)
    return [each[:-1] for each in _until_the_end(_parts(batch, lambda state: state + 1))]


def sequences_with_states_of_a_length():
    key, sequence, length = _examples()
    sequence.set_shape([None, 2])
    batch = tf.contrib.training.batch_sequences_with_states(
        key, {"x": sequence}, {}, length - 1, {"state": tf.constant(7)}, 4, 3, num_threads=1,
        capacity=3, allow_small_batch=False, name="sequences")
    return [[each[:-1] for each in _until_the_end(
        _parts(batch, lambda state: state * 2), 1)],
            batch.sequences["x"].shape, batch.state("state").shape, batch.length.shape]


def sequences_with_states_not_padded():
    key, sequence, length = _examples()
    sequence.set_shape([None, 2])
    batch = tf.contrib.training.batch_sequences_with_states(
        key, {"x": sequence}, {}, length, {"state": tf.constant(7)}, 3, 1, num_threads=1,
        pad=False)
    _until_the_end(_parts(batch, lambda state: state))


def sequences_with_states_and_sparse_ones():
    key, sequence, length = _examples()
    sequence.set_shape([None, 2])
    indices = tf.cast(tf.stack([tf.range(length), tf.range(length) % 2], 1), tf.int64)
    sparse = tf.SparseTensor(indices, tf.range(length), tf.cast(tf.stack([length, 2]), tf.int64))
    context = tf.SparseTensor([[1]], tf.stack([length]), [3])
    batch = tf.contrib.training.batch_sequences_with_states(
        key, {"x": sequence, "s": sparse}, {"c": context}, None, {"state": tf.constant(7)}, 3, 2,
        num_threads=1, allow_small_batch=False)
    return [each[:-1] for each in _until_the_end(_parts(batch, lambda state: state + 1), 3)]


def sequences_with_states_of_unique_keys():
    key, sequence, _ = _examples()
    sequence.set_shape([None, 2])
    batch = tf.contrib.training.batch_sequences_with_states(
        key, {"x": sequence}, {}, None, {"state": tf.constant(7)}, 3, 1, num_threads=1,
        make_keys_unique=True, make_keys_unique_seed=3)
    return [len(each[0][0]) > 10 for each in _until_the_end(_parts(batch, lambda state: state))]


def sequences_of_a_state_saving_rnn():
    key, sequence, length = _examples()
    sequence.set_shape([None, 2])
    cell = tf.nn.rnn_cell.BasicLSTMCell(3, state_is_tuple=True)
    batch = tf.contrib.training.batch_sequences_with_states(
        key, {"x": tf.cast(sequence, tf.float32)}, {"length": length}, None,
        {"c": tf.zeros([3]), "h": tf.zeros([3])}, 4, 2, num_threads=1)
    inputs = tf.unstack(batch.sequences["x"], 4, 1)
    with tf.variable_scope("rnn", initializer=tf.constant_initializer(.1)):
        outputs, state = tf.nn.static_state_saving_rnn(
            cell, inputs, state_saver=batch, state_name=("c", "h"), sequence_length=batch.length)
    return [_until_the_end([batch.key, tf.stack(outputs, 1), state]),
            [each.name for each in tf.get_collection(tf.GraphKeys.QUEUE_RUNNERS)],
            [each.op.name for each in tf.get_collection(tf.GraphKeys.SUMMARIES)]]


def _saver(**changed):
    options = dict(batch_size=2, num_unroll=2, input_length=4, input_key="key",
                   input_sequences={"x": tf.ones([4, 2])}, input_context={},
                   initial_states={"state": tf.zeros([])})
    return tf.contrib.training.SequenceQueueingStateSaver(**dict(options, **changed))


def state_saver():
    saver = _saver(batch_size=1, capacity=1)
    with tf.Session() as session:
        session.run(saver.prefetch_op)
        batch = saver.next_batch
        save = batch.save_state("state", batch.state("state") + 5)
        found = [session.run([batch.state("state"), batch.key, save])[:2] for _ in range(2)]
        session.run(saver.close())
        return [found, saver.batch_size, saver.num_unroll, saver.name]


def state_saver_of_another_key():
    _saver(input_key=3)


def state_saver_of_another_length():
    _saver(input_length=4.)


def state_saver_of_unknown_shape():
    _saver(input_sequences={"x": tf.placeholder(tf.float32, [None, None])})


def state_saver_of_a_colon():
    _saver(input_sequences={"x:y": tf.ones([4, 2])})


def state_saver_without_sequences():
    _saver(input_sequences={})


def state_saver_without_states():
    _saver(initial_states={})


def state_saver_of_a_list():
    _saver(initial_states=[tf.zeros([])])


def state_saver_of_small_capacity():
    _saver(capacity=1)


def state_saver_of_a_longer_length():
    with tf.Session() as session:
        session.run(_saver(input_length=5).prefetch_op)


def state_saver_of_no_such_state():
    _saver().next_batch.state("other")


def state_saver_saves_no_such_state():
    _saver().next_batch.save_state("other", 1)


def state_saver_saves_another_shape():
    _saver().next_batch.save_state("state", tf.zeros([1, 1]))
