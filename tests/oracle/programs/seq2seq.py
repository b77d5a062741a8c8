"""tf.contrib.seq2seq."""

from _ended import error as _error
import numpy as np
import tensorflow as tf

seq2seq = tf.contrib.seq2seq
BATCH, TIME, UNITS, SYMBOLS = 3, 4, 5, 6
LENGTHS = [4, 2, 3]


def _ramp(shape, dtype=tf.float32, partition_info=None):
    count = int(np.prod(shape))
    return tf.constant(np.sin(np.arange(count) * 1.7 + 0.3).reshape(shape), dtype)


def _scope():
    return tf.variable_scope("model", initializer=_ramp)


def _numbers(*shape):
    return np.cos(np.arange(np.prod(shape)) * 0.9).reshape(shape).astype("float32")


def _inputs():
    return tf.constant(_numbers(BATCH, TIME, UNITS))


def _embedding():
    return tf.get_variable("embedding", [SYMBOLS, UNITS])


def _cell():
    return tf.nn.rnn_cell.LSTMCell(UNITS)


def _decoded(helper, cell=None, output_layer=None, state=None, **options):
    cell = cell or _cell()
    if state is None:
        state = cell.zero_state(BATCH, tf.float32)
    decoder = seq2seq.BasicDecoder(cell, helper, state, output_layer)
    return seq2seq.dynamic_decode(decoder, **options)


def _projection():
    return tf.layers.Dense(SYMBOLS, name="projection")


def basic_decoder():
    with _scope():
        outputs, state, lengths = _decoded(seq2seq.TrainingHelper(_inputs(), LENGTHS))
        return {"rnn": outputs.rnn_output, "ids": outputs.sample_id, "state": state,
                "lengths": lengths, "shapes": [outputs.rnn_output.shape, outputs.sample_id.shape]}


def basic_decoder_impute_finished():
    with _scope():
        return list(_decoded(seq2seq.TrainingHelper(_inputs(), LENGTHS), impute_finished=True,
                             output_layer=_projection()))


def basic_decoder_maximum_iterations():
    with _scope():
        return list(_decoded(seq2seq.TrainingHelper(_inputs(), LENGTHS), maximum_iterations=3,
                             output_layer=_projection()))


def basic_decoder_maximum_iterations_tensor_0():
    with _scope():
        return list(_decoded(seq2seq.TrainingHelper(_inputs(), LENGTHS),
                             maximum_iterations=tf.constant(0)))


def basic_decoder_time_major():
    with _scope():
        helper = seq2seq.TrainingHelper(tf.constant(_numbers(TIME, BATCH, UNITS)), LENGTHS,
                                        time_major=True)
        outputs, _, lengths = _decoded(helper, output_time_major=True, swap_memory=True,
                                       parallel_iterations=2, scope="mine")
        return [outputs, lengths, outputs.rnn_output.shape]


def basic_decoder_length_zero():
    with _scope():
        return list(_decoded(seq2seq.TrainingHelper(_inputs(), [0, 2, 0])))


def basic_decoder_all_lengths_zero():
    with _scope():
        outputs, state, lengths = _decoded(seq2seq.TrainingHelper(_inputs(), [0, 0, 0]))
        return [tf.shape(outputs.rnn_output), lengths, state]


def basic_decoder_dynamic_shapes():
    with _scope():
        inputs = tf.placeholder_with_default(_numbers(BATCH, TIME, UNITS), [None, None, UNITS])
        lengths = tf.placeholder_with_default(LENGTHS, [None])
        helper, cell = seq2seq.TrainingHelper(inputs, lengths), _cell()
        outputs, state, found = _decoded(
            helper, cell, _projection(), cell.zero_state(tf.shape(inputs)[0], tf.float32),
            impute_finished=True)
        return [outputs, state, found, outputs.rnn_output.shape, outputs.sample_id.shape]


def basic_decoder_multi_rnn_cell():
    with _scope():
        cell = tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.GRUCell(UNITS), _cell()])
        return list(_decoded(seq2seq.TrainingHelper(_inputs(), LENGTHS), cell))


def basic_decoder_properties():
    helper = seq2seq.TrainingHelper(_inputs(), LENGTHS)
    cell = _cell()
    decoder = seq2seq.BasicDecoder(cell, helper, cell.zero_state(BATCH, tf.float32), _projection())
    return [decoder.output_size, decoder.output_dtype, decoder.batch_size,
            decoder.tracks_own_finished, helper.sample_ids_shape, helper.sample_ids_dtype,
            helper.sequence_length, helper.inputs, seq2seq.BasicDecoderOutput._fields]


def basic_decoder_step():
    with _scope():
        helper = seq2seq.TrainingHelper(_inputs(), LENGTHS)
        cell = _cell()
        decoder = seq2seq.BasicDecoder(cell, helper, cell.zero_state(BATCH, tf.float32))
        finished, inputs, state = decoder.initialize()
        return [finished, inputs, state, decoder.step(tf.constant(0), inputs, state)]


def a_training_step():
    with _scope():
        attention = seq2seq.BahdanauAttention(UNITS, _inputs(), LENGTHS)
        cell = seq2seq.AttentionWrapper(_cell(), attention, attention_layer_size=UNITS)
        helper = seq2seq.TrainingHelper(_inputs(), LENGTHS)
        outputs, _, _ = _decoded(helper, cell, _projection())
        targets = tf.constant(np.arange(BATCH * TIME).reshape(BATCH, TIME) % SYMBOLS)
        loss = seq2seq.sequence_loss(outputs.rnn_output, targets,
                                     tf.sequence_mask(LENGTHS, TIME, tf.float32))
        gradients = tf.gradients(loss, tf.trainable_variables())
        with tf.control_dependencies(gradients):
            train = tf.train.AdamOptimizer(0.1).apply_gradients(
                zip(gradients, tf.trainable_variables()))
        with tf.control_dependencies([train]):
            after = [tf.identity(tf.reduce_sum(each.read_value()))
                     for each in tf.trainable_variables()]
        return {"loss": loss, "gradients": gradients, "after": after}


def greedy_embedding_helper():
    with _scope():
        helper = seq2seq.GreedyEmbeddingHelper(_embedding(), [1, 2, 3], 0)
        return list(_decoded(helper, output_layer=_projection(), maximum_iterations=7))


def greedy_embedding_helper_function():
    with _scope():
        table = _embedding()
        helper = seq2seq.GreedyEmbeddingHelper(
            lambda ids: 2 * tf.nn.embedding_lookup(table, ids), tf.fill([BATCH], 1), 4)
        return list(_decoded(helper, output_layer=_projection(), maximum_iterations=5,
                             impute_finished=True))


def greedy_embedding_helper_errors():
    found = []
    for tokens, end in (([[1]], 0), ([1], [0])):
        try:
            seq2seq.GreedyEmbeddingHelper(_embedding(), tokens, end)
        except ValueError as error:
            found.append(type(error).__name__)
        tf.reset_default_graph()
    return found


def sample_embedding_helper():
    with _scope():
        helper = seq2seq.SampleEmbeddingHelper(_embedding(), [1, 2, 3], 0, seed=11)
        outputs, _, lengths = _decoded(helper, output_layer=_projection(), maximum_iterations=7)
        return [outputs, lengths]


def sample_embedding_helper_temperature():
    with _scope():
        helper = seq2seq.SampleEmbeddingHelper(_embedding(), [1, 2, 3], 0, 0.001, 3)
        outputs, _, lengths = _decoded(helper, output_layer=_projection(), maximum_iterations=7)
        return [outputs, lengths]


def scheduled_embedding_training_helper():
    with _scope():
        helper = seq2seq.ScheduledEmbeddingTrainingHelper(
            _inputs(), LENGTHS, _embedding(), 0.5, seed=3, scheduling_seed=5)
        return list(_decoded(helper, output_layer=_projection(), parallel_iterations=1))


def scheduled_embedding_training_helper_always():
    with _scope():
        helper = seq2seq.ScheduledEmbeddingTrainingHelper(
            tf.constant(_numbers(TIME, BATCH, UNITS)), LENGTHS, _embedding(), tf.constant(1.0),
            time_major=True, seed=3)
        return list(_decoded(helper, output_layer=_projection()))


def scheduled_embedding_training_helper_never():
    with _scope():
        helper = seq2seq.ScheduledEmbeddingTrainingHelper(
            _inputs(), LENGTHS, lambda ids: tf.zeros([tf.size(ids), UNITS]), 0.0)
        return list(_decoded(helper, output_layer=_projection()))


def scheduled_embedding_training_helper_error():
    seq2seq.ScheduledEmbeddingTrainingHelper(_inputs(), LENGTHS, _embedding(), [[0.5]])


def _scheduled_output(probability, **options):
    with _scope():
        helper = seq2seq.ScheduledOutputTrainingHelper(_inputs(), LENGTHS, probability, **options)
        # Steps whose draws wait for nothing run in any order.
        return list(_decoded(helper, parallel_iterations=1))


def scheduled_output_training_helper():
    return _scheduled_output(0.5, seed=4)


def scheduled_output_training_helper_always():
    return _scheduled_output(1.0)


def scheduled_output_training_helper_function():
    return _scheduled_output(0.5, seed=4, next_inputs_fn=tf.layers.Dense(UNITS))


def scheduled_output_training_helper_auxiliary():
    return _scheduled_output(0.7, seed=4, auxiliary_inputs=tf.constant(_numbers(BATCH, TIME, 2)))


def scheduled_output_training_helper_auxiliary_function():
    return _scheduled_output(0.7, seed=4, next_inputs_fn=lambda x: x + 1.0,
                             auxiliary_inputs=tf.constant(_numbers(BATCH, TIME, 2)))


def scheduled_output_training_helper_error():
    return _scheduled_output([[0.5]])


def inference_helper():
    with _scope():
        helper = seq2seq.InferenceHelper(
            lambda outputs: outputs * 2, [UNITS], tf.float32, tf.ones([BATCH, UNITS]),
            lambda samples: tf.reduce_sum(samples, 1) > 1.7)
        return list(_decoded(helper, maximum_iterations=4))


def inference_helper_next_inputs():
    with _scope():
        table = _embedding()
        helper = seq2seq.InferenceHelper(
            lambda outputs: tf.argmax(outputs, -1, output_type=tf.int32), [], tf.int32,
            tf.ones([BATCH, UNITS]), lambda ids: tf.equal(ids, 2),
            next_inputs_fn=lambda ids: tf.nn.embedding_lookup(table, ids))
        return [helper.batch_size, helper.sample_ids_shape, helper.sample_ids_dtype] + list(
            _decoded(helper, output_layer=_projection(), maximum_iterations=4))


def custom_helper():
    inputs = _inputs()

    def start():
        return tf.fill([BATCH], False), inputs[:, 0]

    def sample(time, outputs, state):
        return tf.argmax(outputs, -1, output_type=tf.int32)

    def following(time, outputs, state, sample_ids):
        return tf.fill([BATCH], time >= 2), inputs[:, 1] + outputs, state

    with _scope():
        helper = seq2seq.CustomHelper(start, sample, following)
        return list(_decoded(helper))


def custom_helper_samples_of_a_shape():
    def start():
        return tf.fill([BATCH], False), tf.ones([BATCH, UNITS])

    with _scope():
        helper = seq2seq.CustomHelper(
            start, lambda time, outputs, state: outputs + 1,
            lambda time, outputs, state, sample_ids: (tf.fill([BATCH], time >= 1), sample_ids,
                                                      state),
            [UNITS], tf.float32)
        return list(_decoded(helper))


def custom_helper_before_initialize():
    return seq2seq.CustomHelper(None, None, None).batch_size


def a_decoder_of_ones_own():
    class Counting(seq2seq.Decoder):

        @property
        def batch_size(self):
            return 2

        @property
        def output_size(self):
            return {"a": tf.TensorShape([2]), "b": tf.TensorShape([])}

        @property
        def output_dtype(self):
            return {"a": tf.float32, "b": tf.int32}

        def initialize(self, name=None):
            return tf.fill([2], False), tf.zeros([2]), tf.constant([2, 4])

        def step(self, time, inputs, state, name=None):
            output = {"a": tf.stack([inputs, inputs + 1], 1), "b": state}
            return output, state - 1, inputs + 2, state <= 1

        def finalize(self, outputs, final_state, sequence_lengths):
            return outputs, final_state * 10

    return list(seq2seq.dynamic_decode(Counting(), impute_finished=True))


def a_decoder_without_step():
    class Half(seq2seq.Decoder):
        def initialize(self, name=None):
            return None

    return Half()


def a_helper_of_ones_own():
    class Constant(seq2seq.Helper):
        batch_size, sample_ids_shape, sample_ids_dtype = BATCH, tf.TensorShape([]), tf.int32

        def initialize(self, name=None):
            return tf.fill([BATCH], False), tf.ones([BATCH, UNITS])

        def sample(self, time, outputs, state, name=None):
            return tf.fill([BATCH], time)

        def next_inputs(self, time, outputs, state, sample_ids, name=None):
            return tf.fill([BATCH], time >= 2), outputs, state

    with _scope():
        return list(_decoded(Constant()))


def decoder_errors():
    cell, helper = _cell(), seq2seq.TrainingHelper(_inputs(), LENGTHS)
    state = cell.zero_state(BATCH, tf.float32)
    decoder = seq2seq.BasicDecoder(cell, helper, state)
    return [
        _error(lambda: seq2seq.dynamic_decode(3)),
        _error(lambda: seq2seq.dynamic_decode(decoder, maximum_iterations=[1, 2])),
        _error(lambda: seq2seq.BasicDecoder(3, helper, state)),
        _error(lambda: seq2seq.BasicDecoder(cell, 3, state)),
        _error(lambda: seq2seq.BasicDecoder(cell, helper, state, 3)),
        _error(lambda: seq2seq.BasicDecoder(cell, helper, state, lambda x: x)),
        _error(lambda: seq2seq.TrainingHelper(_inputs(), 3)),
        _error(seq2seq.Helper)]


def _memory():
    return tf.constant(_numbers(BATCH, 7, 3) * 2)


def _aligned(mechanism):
    query = tf.constant(_numbers(BATCH, UNITS) + 1)
    state = mechanism.initial_state(BATCH, tf.float32)
    alignments, next_state = mechanism(query, state)
    return {"alignments": alignments, "state": next_state, "first": state,
            "keys": mechanism.keys, "values": mechanism.values, "size": mechanism.alignments_size,
            "state_size": mechanism.state_size, "batch": mechanism.batch_size,
            "again": mechanism(query, next_state)[0]}


def luong_attention():
    with _scope():
        return _aligned(seq2seq.LuongAttention(UNITS, _memory()))


def luong_attention_scale():
    with _scope():
        return _aligned(seq2seq.LuongAttention(UNITS, _memory(), [7, 3, 1], scale=True))


def luong_attention_hardmax():
    with _scope():
        return _aligned(seq2seq.LuongAttention(UNITS, _memory(), [7, 3, 1],
                                               probability_fn=seq2seq.hardmax,
                                               score_mask_value=-5.0))


def luong_attention_keys_and_values():
    with _scope():
        return _aligned(seq2seq.LuongAttention(
            UNITS, _memory(), custom_key_value_fn=lambda keys, values: (keys * 2, values + 1)))


def luong_attention_float64():
    with tf.variable_scope("model", initializer=_ramp):
        memory = tf.constant(_numbers(BATCH, 7, 3), tf.float64)
        mechanism = seq2seq.LuongAttention(UNITS, memory, [7, 3, 1], dtype=tf.float64)
        query = tf.constant(_numbers(BATCH, UNITS), tf.float64)
        return mechanism(query, mechanism.initial_state(BATCH, tf.float64))


def luong_attention_other_depth():
    mechanism = seq2seq.LuongAttention(UNITS + 1, _memory())
    return mechanism(tf.ones([BATCH, UNITS]), None)


def luong_attention_length_zero():
    with _scope():
        return _aligned(seq2seq.LuongAttention(UNITS, _memory(), tf.constant([7, 0, 1])))


def bahdanau_attention():
    with _scope():
        return _aligned(seq2seq.BahdanauAttention(UNITS, _memory()))


def bahdanau_attention_normalize():
    with _scope():
        return _aligned(seq2seq.BahdanauAttention(UNITS, _memory(), [7, 3, 1], normalize=True,
                                                  name="mine"))


def bahdanau_attention_probability():
    with _scope():
        return _aligned(seq2seq.BahdanauAttention(UNITS, _memory(), probability_fn=tf.nn.sigmoid))


def attention_dynamic_shapes():
    with _scope():
        memory = tf.placeholder_with_default(_numbers(BATCH, 7, 3), [None, None, 3])
        found = _aligned(seq2seq.BahdanauAttention(UNITS, memory, [7, 3, 1]))
        return [found, found["alignments"].shape]


def attention_errors():
    memory, unknown = _memory(), tf.placeholder(tf.float32, [None, None, None])
    return [
        _error(lambda: seq2seq.LuongAttention(UNITS, unknown)),
        _error(lambda: seq2seq.LuongAttention(UNITS, memory, score_mask_value="a")),
        _error(lambda: seq2seq.AttentionMechanism().state_size),
        _error(lambda: seq2seq.AttentionMechanism().alignments_size)]


def bahdanau_monotonic_attention():
    with _scope():
        return _aligned(seq2seq.BahdanauMonotonicAttention(UNITS, _memory(), [7, 3, 1]))


def bahdanau_monotonic_attention_hard():
    with _scope():
        return _aligned(seq2seq.BahdanauMonotonicAttention(
            UNITS, _memory(), normalize=True, score_bias_init=-0.5, mode="hard"))


def bahdanau_monotonic_attention_recursive():
    with _scope():
        return _aligned(seq2seq.BahdanauMonotonicAttention(UNITS, _memory(), mode="recursive"))


def bahdanau_monotonic_attention_noise():
    with _scope():
        return _aligned(seq2seq.BahdanauMonotonicAttention(
            UNITS, _memory(), sigmoid_noise=1.0, sigmoid_noise_seed=9))


def luong_monotonic_attention():
    with _scope():
        return _aligned(seq2seq.LuongMonotonicAttention(UNITS, _memory(), scale=True,
                                                        score_bias_init=1.0))


def luong_monotonic_attention_hard():
    with _scope():
        return _aligned(seq2seq.LuongMonotonicAttention(UNITS, _memory(), [7, 3, 1], mode="hard"))


def monotonic_attention():
    chosen = tf.constant(np.abs(_numbers(BATCH, 5)))
    previous = tf.nn.softmax(tf.constant(_numbers(BATCH, 5)))
    return {mode: [seq2seq.monotonic_attention(chosen, previous, mode), tf.gradients(
        seq2seq.monotonic_attention(chosen, previous, mode)[:, 1], chosen)]
        for mode in ("recursive", "parallel", "hard")}


def monotonic_attention_mode():
    return seq2seq.monotonic_attention([[1.0]], [[1.0]], "soft")


def safe_cumprod():
    x = tf.constant([[0.5, 0.0, 0.3, 1.0], [1.0, 0.9, 1e-40, 0.5]])
    return [seq2seq.safe_cumprod(x), seq2seq.safe_cumprod(x, axis=1),
            seq2seq.safe_cumprod(x, axis=1, exclusive=True, reverse=True),
            tf.gradients(seq2seq.safe_cumprod(x[:, 2:], axis=1), x)]


def hardmax():
    logits = tf.constant([[1.0, 3.0, 3.0], [-1.0, -2.0, -3.0]])
    unknown = tf.placeholder_with_default([[1.0, 3.0], [2.0, 0.0]], [None, None])
    return [seq2seq.hardmax(logits), seq2seq.hardmax(unknown), seq2seq.hardmax(logits[0]),
            seq2seq.hardmax(logits, name="h").op.name]


def _wrapped(mechanisms, steps=2, **options):
    cell = seq2seq.AttentionWrapper(_cell(), mechanisms, **options)
    state, outputs = cell.zero_state(BATCH, tf.float32), []
    for step in range(steps):
        output, state = cell(tf.constant(_numbers(BATCH, UNITS) * (step + 1)), state)
        outputs.append(output)
    state = [each.stack() if isinstance(each, tf.TensorArray) else each
             for each in tf.contrib.framework.nest.flatten(state)]
    return [outputs, state, cell.output_size, tf.contrib.framework.nest.flatten(cell.state_size),
            [each.name for each in cell.trainable_variables]]


def attention_wrapper():
    with _scope():
        return _wrapped(seq2seq.LuongAttention(UNITS, _memory(), [7, 3, 1]))


def attention_wrapper_layer():
    with _scope():
        return _wrapped(seq2seq.BahdanauAttention(UNITS, _memory()), attention_layer_size=4)


def attention_wrapper_history():
    with _scope():
        return _wrapped(seq2seq.BahdanauAttention(UNITS, _memory()), alignment_history=True)


def attention_wrapper_cell_input():
    with _scope():
        return _wrapped(seq2seq.BahdanauAttention(UNITS, _memory()), output_attention=False,
                        cell_input_fn=lambda inputs, attention: inputs, name="attends")


def attention_wrapper_many():
    with _scope():
        mechanisms = [seq2seq.BahdanauAttention(UNITS, _memory()),
                      seq2seq.LuongAttention(UNITS, _memory() + 1)]
        return _wrapped(mechanisms, attention_layer_size=[3, 4], alignment_history=True)


def attention_wrapper_many_without_layers():
    with _scope():
        return _wrapped([seq2seq.BahdanauAttention(UNITS, _memory()),
                         seq2seq.LuongMonotonicAttention(UNITS, _memory() + 1)])


def attention_wrapper_own_layer():
    with _scope():
        return _wrapped(seq2seq.LuongAttention(UNITS, _memory()),
                        attention_layer=tf.layers.Dense(3, tf.tanh, name="given"))


def attention_wrapper_own_function():
    def attend(mechanism, output, state, layer):
        alignments, state = mechanism(output, state)
        return tf.einsum("bt,btd->bd", alignments, mechanism.values) * 2, alignments, state

    with _scope():
        return _wrapped(seq2seq.LuongAttention(UNITS, _memory()), attention_fn=attend)


def attention_wrapper_initial_state():
    with _scope():
        state = tf.nn.rnn_cell.LSTMStateTuple(tf.ones([BATCH, UNITS]), tf.ones([BATCH, UNITS]) / 2)
        return _wrapped(seq2seq.LuongAttention(UNITS, _memory()), initial_cell_state=state)


def attention_wrapper_clone():
    with _scope():
        cell = seq2seq.AttentionWrapper(_cell(), seq2seq.LuongAttention(UNITS, _memory()))
        state = cell.zero_state(BATCH, tf.float32)
        new = tf.nn.rnn_cell.LSTMStateTuple(*[tf.ones([BATCH, UNITS])] * 2)
        state = state.clone(cell_state=new, time=state.time + 3)
        return [cell(tf.ones([BATCH, UNITS]), state)[0], type(state).__name__, state._fields,
                state.time]


def attention_wrapper_clone_other_shape():
    cell = seq2seq.AttentionWrapper(_cell(), seq2seq.LuongAttention(UNITS, _memory()))
    state = cell.zero_state(BATCH, tf.float32)
    return _error(lambda: state.clone(attention=tf.ones([BATCH, 9])))


def attention_wrapper_other_batch():
    with _scope():
        cell = seq2seq.AttentionWrapper(_cell(), seq2seq.LuongAttention(UNITS, _memory()))
        return _error(lambda: cell.zero_state(BATCH * 2, tf.float32))


def attention_wrapper_other_batch_later():
    with _scope():
        memory = tf.placeholder_with_default(_numbers(BATCH, 7, 3), [None, 7, 3])
        cell = seq2seq.AttentionWrapper(_cell(), seq2seq.LuongAttention(UNITS, memory))
        return cell.zero_state(BATCH * 2, tf.float32).cell_state


def attention_wrapper_dynamic_rnn():
    with _scope():
        cell = seq2seq.AttentionWrapper(_cell(), seq2seq.LuongAttention(UNITS, _memory()), 3)
        outputs, state = tf.nn.dynamic_rnn(cell, _inputs(), LENGTHS, dtype=tf.float32)
        return [outputs, state.attention, state.alignments, state.time]


def attention_wrapper_errors():
    cell, mechanism = _cell(), seq2seq.LuongAttention(UNITS, _memory())
    wrapper = seq2seq.AttentionWrapper(cell, mechanism)
    return [
        _error(lambda: seq2seq.AttentionWrapper(3, mechanism)),
        _error(lambda: seq2seq.AttentionWrapper(cell, 3)),
        _error(lambda: seq2seq.AttentionWrapper(cell, [mechanism, 3])),
        _error(lambda: seq2seq.AttentionWrapper(cell, mechanism, cell_input_fn=3)),
        _error(lambda: seq2seq.AttentionWrapper(cell, mechanism, [3, 4])),
        _error(lambda: seq2seq.AttentionWrapper(cell, mechanism, 3, attention_layer=tf.layers.
                                                Dense(3))),
        _error(lambda: seq2seq.AttentionWrapper(cell, mechanism, attention_layer=[])),
        _error(lambda: wrapper(tf.ones([BATCH, UNITS]), cell.zero_state(BATCH, tf.float32))),
        _error(lambda: seq2seq.AttentionWrapper(cell, mechanism, initial_cell_state=tf.ones(
            [BATCH + 1, UNITS])))]


def attention_decoder_history():
    with _scope():
        cell = seq2seq.AttentionWrapper(
            _cell(), seq2seq.BahdanauAttention(UNITS, _memory(), [7, 3, 1]),
            attention_layer_size=4, alignment_history=True)
        helper = seq2seq.TrainingHelper(_inputs(), LENGTHS)
        outputs, state, lengths = _decoded(helper, cell, _projection(), impute_finished=True)
        return [outputs, lengths, state.alignment_history.stack(), state.attention, state.time]


def tile_batch():
    unknown = tf.placeholder_with_default(_numbers(2, 3), [None, 3])
    state = tf.nn.rnn_cell.LSTMStateTuple(tf.constant([[1.0], [2.0]]), tf.constant([[3.0], [4.0]]))
    tiled = seq2seq.tile_batch(unknown, 2)
    return [seq2seq.tile_batch(tf.constant([1, 2]), 3), _error(lambda: seq2seq.tile_batch([1], 2)),
            seq2seq.tile_batch(state, 2), tiled, tiled.shape,
            seq2seq.tile_batch(unknown, multiplier=1, name="t").op.name,
            _error(lambda: seq2seq.tile_batch(3, 2)),
            _error(lambda: seq2seq.tile_batch(tf.placeholder(tf.float32), 2))]


def gather_tree():
    ids = tf.constant([[[1, 2, 3]], [[4, 5, 6]], [[7, 8, 9]], [[1, 1, 1]]])
    parents = tf.constant([[[0, 0, 0]], [[0, 1, 1]], [[2, 1, 2]], [[0, 1, 2]]])
    return [seq2seq.gather_tree(ids, parents, [3], 10), seq2seq.gather_tree(ids, parents, [4], 5),
            seq2seq.gather_tree(ids, parents, max_sequence_lengths=[9], end_token=4),
            seq2seq.gather_tree(step_ids=ids, parent_ids=parents, max_sequence_lengths=[0],
                                end_token=8),
            seq2seq.gather_tree(ids, parents, [3], 10).shape]


def gather_tree_of_many():
    random = np.random.RandomState(3)
    ids, parents = random.randint(0, 9, (6, 4, 3)), random.randint(0, 3, (6, 4, 3))
    return [seq2seq.gather_tree(ids.astype("int32"), parents.astype("int32"), [6, 1, 3, 0], 2),
            _error(lambda: seq2seq.gather_tree(ids, parents, [6, 1, 3, 0], 2))]


def gather_tree_wrong_parent():
    return seq2seq.gather_tree([[[1, 2]], [[1, 2]]], [[[0, 0]], [[0, 5]]], [2], 9)


def _beams(width=3, **options):
    cell = tf.nn.rnn_cell.GRUCell(UNITS)
    state = seq2seq.tile_batch(tf.constant(_numbers(BATCH, UNITS)), width)
    decoder = seq2seq.BeamSearchDecoder(
        cell, _embedding(), tf.fill([BATCH], 1), 2, state, width, _projection(), **options)
    outputs, state, lengths = seq2seq.dynamic_decode(decoder, maximum_iterations=5)
    return {"ids": outputs.predicted_ids, "steps": outputs.beam_search_decoder_output,
            "state": state, "lengths": lengths, "shape": outputs.predicted_ids.shape}


def beam_search():
    with _scope():
        return _beams()


def beam_search_one_beam():
    with _scope():
        return _beams(1)


def beam_search_length_penalty():
    with _scope():
        return _beams(length_penalty_weight=0.9)


def beam_search_properties():
    with _scope():
        cell = tf.nn.rnn_cell.GRUCell(UNITS)
        decoder = seq2seq.BeamSearchDecoder(
            cell, lambda ids: tf.one_hot(ids, UNITS), [1, 2], 0, tf.ones([6, UNITS]), 3,
            tf.layers.Dense(7))
        return [decoder.output_size, decoder.output_dtype, decoder.batch_size,
                decoder.tracks_own_finished, seq2seq.BeamSearchDecoderState._fields,
                seq2seq.BeamSearchDecoderOutput._fields,
                seq2seq.FinalBeamSearchDecoderOutput._fields, decoder.initialize()]


def beam_search_time_major_impute_finished():
    with _scope():
        cell = _cell()
        state = cell.zero_state(BATCH * 2, tf.float32)
        decoder = seq2seq.BeamSearchDecoder(cell, _embedding(), [1, 3, 4], 2, state, 2,
                                            _projection())
        outputs, state, lengths = seq2seq.dynamic_decode(decoder, output_time_major=True,
                                                         maximum_iterations=4)
        return [outputs, state, lengths]


def _attending_beams(dynamic=False, **options):
    width = options.pop("width", 2)
    memory = _memory()
    if dynamic:
        memory = tf.placeholder_with_default(_numbers(BATCH, 7, 3), [None, None, 3])
    mechanism = seq2seq.BahdanauAttention(
        UNITS, seq2seq.tile_batch(memory, width),
        seq2seq.tile_batch(tf.constant([7, 3, 1]), width))
    cell = seq2seq.AttentionWrapper(_cell(), mechanism, 4, alignment_history=True)
    batch = tf.shape(memory)[0]
    state = cell.zero_state(batch * width if dynamic else BATCH * width, tf.float32)
    decoder = seq2seq.BeamSearchDecoder(
        cell, _embedding(), tf.fill([batch if dynamic else BATCH], 1), 2, state, width,
        _projection(), **options)
    outputs, state, lengths = seq2seq.dynamic_decode(decoder, maximum_iterations=5)
    history = state.cell_state.alignment_history
    return {"outputs": outputs, "lengths": lengths, "log_probs": state.log_probs,
            "attention": state.cell_state.attention,
            "is_array": isinstance(history, tf.TensorArray),
            "history": history.stack() if isinstance(history, tf.TensorArray) else history,
            "accumulated": state.accumulated_attention_probs,
            "alignments": state.cell_state.alignments}


def beam_search_attention():
    with _scope():
        return _attending_beams()


def beam_search_attention_dynamic():
    with _scope():
        return _attending_beams(dynamic=True)


def beam_search_attention_dynamic_unsorted():
    with _scope():
        return _attending_beams(dynamic=True, reorder_tensor_arrays=False, width=3)


def beam_search_coverage_penalty():
    with _scope():
        return _attending_beams(coverage_penalty_weight=0.4, length_penalty_weight=0.6, width=3)


def beam_search_errors():
    cell, table = tf.nn.rnn_cell.GRUCell(UNITS), _embedding()
    state = cell.zero_state(6, tf.float32)
    search = seq2seq.BeamSearchDecoder
    return [
        _error(lambda: search(3, table, [1, 1], 0, state, 3)),
        _error(lambda: search(cell, table, 1, 0, state, 3)),
        _error(lambda: search(cell, table, [1, 1], [0], state, 3)),
        _error(lambda: search(cell, table, [1, 1], 0, state, 3, 5)),
        _error(lambda: search(cell, table, [1, 1], 0, tf.ones([2, UNITS]), 3)),
        _error(lambda: search(cell, table, [1, 1], 0, state, 3,
                              coverage_penalty_weight=0.5).initialize()),
        _error(lambda: search(cell, table, [1, 1], 0, tf.placeholder(tf.float32), 3))]


def _losses(**options):
    logits = tf.constant(_numbers(BATCH, TIME, SYMBOLS) * 2)
    targets = tf.constant(np.arange(BATCH * TIME).reshape(BATCH, TIME) % SYMBOLS)
    weights = tf.sequence_mask([4, 0, 2], TIME, tf.float32) * 0.5
    return seq2seq.sequence_loss(logits, targets, weights, **options)


def sequence_loss():
    return [_losses(), _losses(average_across_timesteps=False),
            _losses(average_across_batch=False),
            _losses(average_across_timesteps=False, average_across_batch=False)]


def sequence_loss_sums():
    off = {"average_across_timesteps": False, "average_across_batch": False}
    return [_losses(sum_over_timesteps=True, sum_over_batch=True, **off),
            _losses(sum_over_timesteps=True, **off), _losses(sum_over_batch=True, **off),
            _losses(average_across_timesteps=False, sum_over_timesteps=True),
            _losses(average_across_batch=False, sum_over_batch=True)]


def sequence_loss_function():
    return _losses(softmax_loss_function=lambda labels, logits: tf.cast(labels, tf.float32)
                   + tf.reduce_sum(logits, 1), name="mine")


def sequence_loss_errors():
    logits, targets, weights = tf.ones([2, 3, 4]), tf.ones([2, 3], tf.int32), tf.ones([2, 3])
    return [
        _error(lambda: seq2seq.sequence_loss(logits[0], targets, weights)),
        _error(lambda: seq2seq.sequence_loss(logits, targets[0], weights)),
        _error(lambda: seq2seq.sequence_loss(logits, targets, weights[0])),
        _error(lambda: _losses(sum_over_timesteps=True)),
        _error(lambda: _losses(sum_over_batch=True, average_across_timesteps=False))]


def names_of_modules():
    from tensorflow.contrib.seq2seq.python.ops import (attention_wrapper as wrapper,
                                                       beam_search_decoder, helper)
    from tensorflow.contrib.seq2seq.python.ops.attention_wrapper import _bahdanau_score
    scores = _bahdanau_score(tf.ones([2, 3]), tf.ones([2, 4, 3]), tf.ones([3]))
    masked = wrapper._maybe_mask_score(scores, tf.constant([1, 4]), score_mask_value=-1.0)
    memory = wrapper._prepare_memory(tf.ones([2, 4, 3]), tf.constant([1, 4]))
    draws = helper.categorical_sample(tf.constant([[0.0, 50.0], [50.0, 0.0]]), sample_shape=[2])
    bits = helper.bernoulli_sample(logits=tf.constant([50.0, -50.0]), sample_shape=3)
    tiled = beam_search_decoder.tile_batch(tf.constant([1]), 2)
    return [scores, masked, memory, draws, bits, tiled,
            issubclass(wrapper.BahdanauAttention, wrapper._BaseAttentionMechanism)]


def an_encoder_and_a_decoder():
    table = _embedding()
    inputs = tf.nn.embedding_lookup(table, [[1, 2, 3, 4], [5, 1, 0, 0], [3, 3, 3, 0]])
    outputs, state = tf.nn.dynamic_rnn(_cell(), inputs, LENGTHS, dtype=tf.float32)
    mechanism = seq2seq.LuongAttention(UNITS, outputs, LENGTHS, scale=True)
    cell = seq2seq.AttentionWrapper(_cell(), mechanism, UNITS, name="attention")
    first = cell.zero_state(BATCH, tf.float32).clone(cell_state=state)
    helper = seq2seq.TrainingHelper(inputs, LENGTHS)
    with tf.variable_scope("decode"):
        decoded, _, _ = _decoded(helper, cell, tf.layers.Dense(SYMBOLS, use_bias=False), first)
    loss = _error(lambda: seq2seq.sequence_loss(decoded.rnn_output, tf.ones([3, 4]), 1))
    return [decoded.rnn_output, loss]


def attention_wrapper_with_default_initial_values():
    return _wrapped(seq2seq.BahdanauAttention(UNITS, _memory(), [7, 3, 1]), attention_layer_size=4)


def bahdanau_attention_with_default_initial_values():
    return _aligned(seq2seq.BahdanauAttention(UNITS, _memory(), [7, 3, 1], normalize=True))


def basic_decoder_with_default_initial_values():
    outputs, state, lengths = _decoded(seq2seq.TrainingHelper(_inputs(), LENGTHS),
                                       output_layer=_projection())
    return {"rnn": outputs.rnn_output, "ids": outputs.sample_id, "state": state}


def sample_embedding_helper_graph_seed():
    with _scope():
        helper = seq2seq.SampleEmbeddingHelper(_embedding(), [1, 2, 3], 0, 2.0)
        outputs, _, _ = _decoded(helper, output_layer=_projection(), maximum_iterations=7)
        return outputs


SOAK = ("a_decoder_without_step", "a_helper_of_ones_own", "a_training_step",
        "an_encoder_and_a_decoder", "attention_decoder_history", "attention_wrapper",
        "attention_wrapper_cell_input", "attention_wrapper_dynamic_rnn",
        "attention_wrapper_history", "attention_wrapper_layer",
        "attention_wrapper_many_without_layers", "attention_wrapper_other_batch",
        "attention_wrapper_other_batch_later", "attention_wrapper_own_function",
        "attention_wrapper_with_default_initial_values", "bahdanau_attention",
        "bahdanau_attention_probability", "bahdanau_monotonic_attention",
        "bahdanau_monotonic_attention_noise", "bahdanau_monotonic_attention_recursive",
        "basic_decoder", "basic_decoder_all_lengths_zero", "basic_decoder_impute_finished",
        "basic_decoder_length_zero", "basic_decoder_maximum_iterations",
        "basic_decoder_maximum_iterations_tensor_0", "basic_decoder_multi_rnn_cell",
        "basic_decoder_step", "basic_decoder_time_major",
        "basic_decoder_with_default_initial_values", "beam_search", "beam_search_attention",
        "beam_search_attention_dynamic", "beam_search_attention_dynamic_unsorted",
        "beam_search_coverage_penalty", "beam_search_length_penalty", "beam_search_one_beam",
        "beam_search_properties", "beam_search_time_major_impute_finished", "custom_helper",
        "gather_tree", "gather_tree_of_many", "greedy_embedding_helper",
        "inference_helper_next_inputs", "luong_attention", "luong_attention_float64",
        "luong_attention_hardmax", "luong_attention_keys_and_values",
        "luong_attention_length_zero", "luong_attention_other_depth",
        "luong_monotonic_attention_hard", "monotonic_attention", "safe_cumprod",
        "sample_embedding_helper", "scheduled_embedding_training_helper",
        "scheduled_embedding_training_helper_always", "scheduled_embedding_training_helper_error",
        "scheduled_embedding_training_helper_never", "scheduled_output_training_helper",
        "scheduled_output_training_helper_always", "scheduled_output_training_helper_auxiliary",
        "scheduled_output_training_helper_error", "scheduled_output_training_helper_function",
        "sequence_loss", "sequence_loss_function")
