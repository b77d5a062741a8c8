"""Small datasets, and files of comma-separated values.

Source: tensorflow/contrib/learn/python/learn/datasets of TensorFlow 1.15: base.py, synthetic.py
and __init__.py. Iris: Fisher, "The Use of Multiple Measurements in Taxonomic Problems", 1936.
"""

from __future__ import annotations

import csv
import errno
import os
import random
import time
from typing import Any, Callable, NamedTuple, Optional
from urllib import request

import numpy as np
import tensorflow as tf

from estimator_trainer.compat.tensorflow1.tutorials import input_data
from estimator_trainer.errors import ConfigError

# Millimetres of 150 flowers: sepal and petal length and width; 50 of each of three kinds.
_IRIS = """
    5135140249301402473213024631150250361402543917044634140350341502442914024931150154371502
    4834160248301401433011015840120257441504543913045135140357381703513815035434170251371504
    4636100251331705483419025030160250341604523515025234140247321602483116025434150452411501
    5542140249311501503212025535130249311501443013025134150250351303452313034432130250351606
    5138190448301403513816024632140253371502503314027032471464324515693149155523401365284615
    5728451363334716492433106629461352273914502035105930421560224010612947145629361367314414
    5630451558274110622245155625391159324818612840136325491561284712642943136630441468284814
    6730501760294515572635105524381155243710582739126027511654304515603445166731471563234413
    5630411355254013552644126130461458264012502333105627421357304212572942136229431351253011
    5728411363336025582751197130592163295618653058227630662149254517732963186725581872366125
    6532512064275319683055215725502058285124643253236530551877386722772669236022501569325723
    5628492077286720632749186733572172326018622848186130491864285621723058167428611979386420
    6428562263285115612656147730612363345624643155186030481869315421673156246931512358275119
    68325923673357256730522363255019653052206234542359305118
"""


class Dataset(NamedTuple):
    """Features [n, size] and labels [n]."""

    data: Any
    target: Any


def load_csv_with_header(filename: str, target_dtype: Any, features_dtype: Any,
                         target_column: int = -1) -> Dataset:
    """Returns the rows of a file whose first line begins with their number and that of features.

    Args:
      filename: The file.
      target_dtype, features_dtype: Types of the labels and of the features.
      target_column: Where the label is.
    """
    rows = _rows(filename)
    count, size = int(rows[0][0]), int(rows[0][1])
    found = _dataset(rows[1:count + 1], target_dtype, features_dtype, target_column)
    return Dataset(found.data.reshape(count, size), found.target)


def load_csv_without_header(filename: str, target_dtype: Any, features_dtype: Any,
                            target_column: int = -1) -> Dataset:
    """Returns the rows of a file; arguments as in `load_csv_with_header`."""
    return _dataset(_rows(filename), target_dtype, features_dtype, target_column)


def _rows(filename: str) -> list[list[str]]:
    with tf.io.gfile.GFile(filename) as file:
        return list(csv.reader(file))


def _dataset(rows: list[list[str]], target_dtype: Any, features_dtype: Any,
             target_column: int) -> Dataset:
    target = [row.pop(target_column) for row in rows]
    return Dataset(np.array(rows).astype(features_dtype), np.array(target).astype(target_dtype))


def shrink_csv(filename: str, ratio: int) -> None:
    """Writes every `ratio`th line of a file into another, whose name has `_small` before a dot."""
    with tf.io.gfile.GFile(filename.replace(".", "_small."), "w") as file:
        csv.writer(file).writerows(_rows(filename)[::ratio])


def load_iris(data_path: Optional[str] = None) -> Dataset:
    """Returns Iris: float64 [150, 4] and int64 [150]; or those of a file."""
    if data_path is not None:
        return load_csv_with_header(data_path, int, float)
    digits = "".join(_IRIS.split())
    numbers = [int(digits[place:place + 2]) for place in range(0, len(digits), 2)]
    return Dataset(np.array(numbers).reshape(150, 4) / 10, np.repeat(np.arange(3), 50))


def load_boston(data_path: Optional[str] = None) -> Dataset:
    """Returns the houses of a file, float64.

    Raises:
      ConfigError: there is no data_path.
    """
    if data_path is None:
        raise ConfigError("data_path is None (from tf.contrib.learn.datasets.load_boston); expected"
                          " a file, boston_house_prices.csv of TensorFlow 1.15's source")
    return load_csv_with_header(data_path, float, float)


def _no_dbpedia(size: str = "small", test_with_fake_data: bool = False) -> Any:
    raise ConfigError(f"name is 'dbpedia' and size {size!r} (from tf.contrib.learn.datasets); "
                      "expected another, for it was fetched. Use tensorflow_datasets")


def circles(n_samples: int = 100, noise: Any = None, seed: Any = None, factor: float = .8,
            n_classes: int = 2, *args: Any, **kwargs: Any) -> Dataset:
    """Returns points of concentric circles, whose number is the label."""
    def points(angles: Any, label: int) -> Any:
        return factor ** label * np.cos(angles), factor ** label * np.sin(angles)

    def more(count: int) -> Any:
        return np.cos(np.random.rand(count) * 2 * np.pi), np.sin(
            np.random.rand(count) * 2 * np.pi)

    return _curves(points, more, n_classes, 2 * np.pi, n_samples, noise, seed)


def spirals(n_samples: int = 100, noise: Any = None, seed: Any = None, mode: str = "archimedes",
            n_loops: int = 2, *args: Any, **kwargs: Any) -> Dataset:
    """Returns points of two spirals, whose number is the label.

    Args:
      n_samples: How many points.
      noise: The deviation of normal noise.
      seed: The seed of the order and of the noise.
      mode: "archimedes", "bernoulli" or "fermat".
      n_loops: How often a spiral goes round.
      **kwargs: exp_scale, of "bernoulli".

    Raises:
      ValueError: mode is another.
    """
    scale = kwargs.get("exp_scale", .1)
    radii: dict[str, Callable[[Any], Any]] = {
        "archimedes": lambda angle: angle, "fermat": np.sqrt,
        "bernoulli": lambda angle: np.exp(scale * angle)}
    if mode not in radii:
        raise ValueError(f"Cannot generate spiral with mode {mode}")

    def points(angles: Any, label: int) -> Any:
        length = radii[mode](angles)
        found = (length * np.cos(angles + label * np.pi), length * np.sin(angles + label * np.pi))
        return tuple(each / np.max(np.abs(each)) for each in found)

    def more(count: int) -> Any:
        return points(np.random.rand(count) * 2 * np.pi, 0)

    return _curves(points, more, 2, 2 * n_loops * np.pi, n_samples, noise, seed)


def _curves(points: Callable[[Any, int], Any], more: Callable[[int], Any],
            n_classes: int, end: float, n_samples: int, noise: Any, seed: Any) -> Dataset:
    if seed is not None:
        np.random.seed(seed)
    angles, extras = np.linspace(0, end, n_samples // n_classes), n_samples % n_classes
    parts = [np.stack(points(angles, label), 1) for label in range(n_classes)]
    labels = [np.full(len(angles), label, np.int32) for label in range(n_classes)]
    if extras:
        parts.append(np.stack(more(extras), 1))
        labels.append(np.zeros(extras, np.int32))
    order = np.random.permutation(range(n_samples))
    found = np.concatenate(parts)
    if noise is not None:
        found = found + np.random.normal(scale=noise, size=found.shape)
    return Dataset(found[order], np.concatenate(labels)[order])


DATASETS: dict[str, Callable[..., Any]] = {
    "iris": load_iris, "boston": load_boston, "mnist": input_data.load_mnist,
    "dbpedia": _no_dbpedia}
SYNTHETIC: dict[str, Callable[..., Dataset]] = {"circles": circles, "spirals": spirals}


def load_dataset(name: str, size: str = "small", test_with_fake_data: bool = False) -> Any:
    """Returns the dataset of a name.

    Raises:
      ValueError: there is none.
      ConfigError: it is not here.
    """
    if name not in DATASETS:
        raise ValueError(f"Name of dataset is not found: {name}")
    return DATASETS[name](size, test_with_fake_data) if name == "dbpedia" else DATASETS[name]()


def make_dataset(name: str, n_samples: int = 100, noise: Any = None, seed: Any = 42, *args: Any,
                 **kwargs: Any) -> Dataset:
    """Returns `circles` or `spirals`.

    Raises:
      ValueError: the name is another.
    """
    if name not in SYNTHETIC:
        raise ValueError(f"Synthetic dataset not found or not implemeted: {name}")
    return SYNTHETIC[name](n_samples, noise, seed, *args, **kwargs)


def retry(initial_delay: float, max_delay: float, factor: float = 2.0, jitter: float = .25,
          is_retriable: Any = None) -> Callable[[Any], Any]:
    """Returns a decorator of functions that are called again after an error, after longer delays.

    Raises:
      ValueError: factor is less than 1, or jitter not less.
    """
    if factor < 1:
        raise ValueError(f"factor must be >= 1; was {factor}")
    if jitter >= 1:
        raise ValueError(f"jitter must be < 1; was {jitter}")

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            delay = initial_delay
            while delay <= max_delay:
                try:
                    return function(*args, **kwargs)
                except Exception as error:  # pylint: disable=broad-except
                    if is_retriable is not None and not is_retriable(error):
                        raise
                    if is_retriable is not None:
                        time.sleep(delay * random.uniform(1 - jitter, 1 + jitter))
                delay *= factor
            return function(*args, **kwargs)

        return call

    return decorate


@retry(initial_delay=1.0, max_delay=16.0,
       is_retriable=lambda error: isinstance(error, OSError) and error.errno == errno.ETIMEDOUT)
def urlretrieve_with_retry(url: str, filename: Optional[str] = None) -> Any:
    """Fetches a file; returns its path, and the headers of the answer."""
    return request.urlretrieve(url, filename)


def maybe_download(filename: str, work_directory: str, source_url: str) -> str:
    """Returns the path of a file in a folder, into which the first call fetches it."""
    tf.io.gfile.makedirs(work_directory)
    path = os.path.join(work_directory, filename)
    if not tf.io.gfile.exists(path):
        tf.io.gfile.copy(urlretrieve_with_retry(source_url)[0], path)
        print("Successfully downloaded", filename, tf.io.gfile.stat(path).length, "bytes.")
    return path
