"""`tf.contrib.cudnn_rnn`: RNNs by cuDNN on a GPU, by plain operations elsewhere."""

from __future__ import annotations

_HERE = "estimator_trainer.compat.contrib.cudnn_rnn"

NAMES = {name: f"{_HERE}.{module}.{name}" for module, names in {
    "compatible": ("CudnnCompatibleGRUCell", "CudnnCompatibleLSTMCell"),
    "layers": ("CudnnGRU", "CudnnLSTM", "CudnnRNNRelu", "CudnnRNNTanh"),
    "formats": tuple(f"CudnnParamsFormatConverter{kind}" for kind in (
        "GRU", "LSTM", "Relu", "Tanh")),
    "saveables": tuple(f"Cudnn{kind}Saveable" for kind in ("GRU", "LSTM", "RNNRelu", "RNNTanh")),
}.items() for name in names}
