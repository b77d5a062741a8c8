"""Names outside tf.contrib, and arguments, that later versions renamed, moved or dropped."""

import gzip
import os
import struct
import tempfile

import numpy as np
import tensorflow as tf

keras = tf.keras
SOAK = ("a_saved_model_of_keras", "a_cell_with_peepholes", "turned_kernels")


def logits_and_labels_by_name():
    logits, labels = tf.constant([[1., 2.]]), tf.constant([[0., 1.]])
    return [tf.nn.softmax_cross_entropy_with_logits(_sentinel=None, labels=labels, logits=logits),
            tf.nn.sigmoid_cross_entropy_with_logits(None, labels=labels, logits=logits),
            tf.nn.sparse_softmax_cross_entropy_with_logits(
                _sentinel=None, labels=[1], logits=logits, name="n")]


def texts():
    text = keras.preprocessing.text
    return [text.text_to_word_sequence(text="a b"), text.text_to_word_sequence("A, b"),
            len(text.one_hot(text="a b a", n=5)), len(text.one_hot("a b", 5)),
            text.Tokenizer(num_words=3, document_count=1).document_count]


def objects_of_keras():
    dense = keras.utils.serialize_keras_object(instance=keras.layers.Dense(2))
    made = keras.utils.deserialize_keras_object(
        identifier=dense, module_objects={"Dense": keras.layers.Dense}, custom_objects=None,
        printable_module_name="layer")
    return [dense["class_name"], sorted(dense), made.units, keras.utils.deserialize_keras_object(
        "a", {"a": 3})]


def an_object_that_is_unknown():
    return keras.utils.deserialize_keras_object("nope", {}, None, "thing")


def options_of_recurrent_layers():
    layers = keras.layers
    return [layers.GRU(2, implementation=2).implementation,
            layers.LSTM(2, implementation=1).get_config()["implementation"],
            layers.LSTMCell(2, implementation=2).implementation, layers.GRU(2).reset_after,
            layers.GRU(2).recurrent_activation.__name__]


def options_of_optimizers():
    found = keras.optimizers
    return [sorted((name, float(value)) for name, value in each.get_config().items()
                   if isinstance(value, (int, float)) or hasattr(value, "dtype"))
            for each in (found.Adam(lr=0.1, decay=0.2), found.SGD(lr=0.1, momentum=0.3),
                         found.RMSprop(lr=0.1, rho=0.5), found.Adagrad(0.2))]


def losses_by_place():
    losses = keras.losses
    labels, values = tf.constant([[0., 1.]]), tf.constant([[0.2, 0.7]])
    return [losses.BinaryCrossentropy(False, 0.1, "none", "n")(labels, values),
            losses.CategoricalCrossentropy(True, 0, "sum", "c")(labels, values),
            losses.BinaryCrossentropy(False, 0.1, "none", "n").name, losses.KLDivergence().name,
            losses.LogCosh().name, losses.KLDivergence("sum").reduction]


def a_linear_model():
    model = keras.experimental.LinearModel(2, None, False)
    return [type(model.kernel_initializer).__name__, model.units, model.use_bias]


def an_unknown_error():
    error = tf.errors.UnknownError(None, None, "what", error_code=5)
    return [error.error_code, error.message, tf.errors.UnknownError(None, None, "x").error_code]


def a_loop_option():
    tf.autograph.experimental.set_loop_options(back_prop=True)
    return []


def a_rate_with_a_cosine():
    schedule = keras.experimental.LinearCosineDecay(0.1, 10, 0.5, 0.1, 0.01)
    return [schedule(tf.constant(step)) for step in (0, 3, 12)] + [
        keras.experimental.LinearCosineDecay(0.1, 10, name="n")(4), sorted(schedule.get_config())]


def a_rate_with_noise():
    schedule = keras.experimental.NoisyLinearCosineDecay(0.1, 10, initial_variance=0.)
    return [schedule(tf.constant(3.)), sorted(schedule.get_config())]


def a_cell_with_peepholes():
    cell = keras.experimental.PeepholeLSTMCell(2, kernel_initializer="ones",
                                               recurrent_initializer="ones")
    fused = keras.experimental.PeepholeLSTMCell(2, implementation=2, kernel_initializer="ones",
                                                recurrent_initializer="ones")
    x = tf.constant([[[0.1, 0.2], [0.3, -0.4]]])
    return [keras.layers.RNN(each, return_sequences=True)(x) for each in (cell, fused)]


def models_on_gpus_that_are_not_there():
    model = keras.Sequential([keras.layers.Dense(1, input_shape=(1,))])
    return keras.utils.multi_gpu_model(model, 2)


def a_model_on_one_gpu():
    model = keras.Sequential([keras.layers.Dense(1, input_shape=(1,))])
    return keras.utils.multi_gpu_model(model, gpus=1)


def turned_kernels():
    model = keras.Sequential([keras.layers.Conv2D(1, (2, 3), input_shape=(4, 4, 1))])
    model.layers[0].set_weights([np.arange(6.).reshape([2, 3, 1, 1]), np.zeros([1])])
    keras.utils.convert_all_kernels_in_model(model)
    return [model.layers[0].get_weights()[0]]


def a_saved_model_of_keras():
    model = keras.Sequential([keras.layers.Dense(1, input_shape=(1,), kernel_initializer="ones")])
    path = os.path.join(tempfile.mkdtemp(), "model.h5")
    keras.models.save_model(model, path, True, False)
    return [keras.models.load_model(path).predict(np.ones([1, 1]))]


def rows_of_a_file():
    import h5py
    path = os.path.join(tempfile.mkdtemp(), "rows.h5")
    with h5py.File(path, "w") as file:
        file["x"] = np.arange(12.).reshape([6, 2])
    rows = keras.utils.HDF5Matrix(path, "x", 1, 5, lambda each: each * 10)
    return [len(rows), rows.shape, rows[0], rows[1:3], rows[np.array([0, 3])], rows.ndim,
            str(rows.dtype)]


def devices():
    return [tf.config.experimental_list_devices()[0]]


def answers_of_hasattr():
    return [hasattr(tf.estimator, "BoostedTreesClassifier"), hasattr(tf.keras, "wrappers"),
            hasattr(tf.lite.experimental, "nn"), hasattr(tf.keras.utils, "nope"),
            hasattr(tf.keras.experimental, "export_saved_model"), hasattr(tf, "nope")]


def policies():
    policy = tf.keras.mixed_precision.experimental.Policy("float32")
    return [policy.name, policy.compute_dtype]


def _mnist(folder, examples=12):
    random = np.random.RandomState(1)
    for split in ("train", "t10k"):
        images = random.randint(0, 256, [examples, 28, 28]).astype(np.uint8)
        labels = (np.arange(examples) % 10).astype(np.uint8)
        with gzip.open(os.path.join(folder, split + "-images-idx3-ubyte.gz"), "wb") as file:
            file.write(struct.pack(">4i", 0x803, examples, 28, 28) + images.tobytes())
        with gzip.open(os.path.join(folder, split + "-labels-idx1-ubyte.gz"), "wb") as file:
            file.write(struct.pack(">2i", 0x801, examples) + labels.tobytes())
    return folder


def the_order_of_mnist():
    from tensorflow.examples.tutorials.mnist import input_data
    mnist = input_data.read_data_sets(_mnist(tempfile.mkdtemp()), validation_size=2)
    found = [mnist.train.next_batch(4)[1] for _ in range(5)]
    return found + [mnist.test.next_batch(3)[1], mnist.validation.next_batch(2, shuffle=False)[1],
                    np.random.rand(), mnist.train.images.shape, mnist.train.images[0, :5],
                    mnist.train.epochs_completed]


def the_order_of_mnist_by_a_seed():
    from tensorflow.examples.tutorials.mnist import input_data
    mnist = input_data.read_data_sets(_mnist(tempfile.mkdtemp()), one_hot=True, seed=3,
                                      dtype=tf.uint8, reshape=False, validation_size=0)
    return [mnist.train.next_batch(5)[1], mnist.train.images.shape, str(mnist.train.images.dtype)]


def a_data_set_of_the_program():
    from tensorflow.contrib.learn.python.learn.datasets.mnist import DataSet
    images = np.arange(8, dtype=np.uint8).reshape([4, 2, 1, 1])
    data = DataSet(images, np.arange(4), dtype=tf.uint8, seed=5)
    return [data.next_batch(3), data.num_examples]
