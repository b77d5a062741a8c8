"""The installed versions of Python, TensorFlow, Estimator and Keras, and whether they fit.

Only metadata of packages is read, which takes milliseconds and imports nothing of TensorFlow:

    found = versions.installed()
    print(found)                 # TensorFlow 2.21.0, tensorflow-estimator 2.15.0 (compat), ...
    versions.problems(found)     # one sentence for each impossible combination
    versions.warnings(found)     # one sentence for each untested combination
"""

import os
import re
import sys
from typing import Dict, List, NamedTuple, Optional, Tuple

ESTIMATOR = "2.15.0"
NATIVE = (2, 15)
NEWEST_TESTED = (2, 21)
LEGACY_KERAS_VARIABLE = "TF_USE_LEGACY_KERAS"

_LEGACY_KERAS_VALUES = ("1", "true", "True")  # Other values mean Keras 3.
_NATIVE_PYTHONS = ((3, 9), (3, 11))
_COMPAT_PYTHONS = ((3, 10), (3, 13))
_TENSORFLOW_PACKAGES = ("tensorflow", "tensorflow-cpu", "tf-nightly", "tensorflow-macos",
                        "tensorflow-rocm", "tensorflow-intel", "intel-tensorflow")
_WHEEL = re.compile(r"-([^-/]+)\.dist-info$")
_INSTALL = "python -m pip install"
_INSTALL_NEWEST = (f'{_INSTALL} "tensorflow=={NEWEST_TESTED[0]}.{NEWEST_TESTED[1]}.*" '
                   f'"tf_keras=={NEWEST_TESTED[0]}.{NEWEST_TESTED[1]}.*" '
                   f'"tensorflow-estimator=={ESTIMATOR}"')


class Versions(NamedTuple):
    """The version strings of the packages; None for a missing package."""

    python: str
    tensorflow: Optional[str]
    estimator: Optional[str]
    tf_keras: Optional[str]
    keras: Optional[str]

    @property
    def mode(self) -> str:
        """The source of Estimator: `native` (TensorFlow 2.15) or `compat` (this program)."""
        return "native" if _minor(self.tensorflow) <= NATIVE else "compat"

    @property
    def keras_name(self) -> str:
        """The name of `tf.keras`: `Keras 2 (keras 2.15.0)`, `Keras 2 (tf_keras 2.21.0)`."""
        if self.mode == "compat":
            return f"Keras 2 (tf_keras {self.tf_keras})"
        return f"Keras {_minor(self.keras)[0]} (keras {self.keras})"

    def __str__(self) -> str:
        return (f"TensorFlow {self.tensorflow}, tensorflow-estimator {self.estimator} "
                f"({self.mode}), {self.keras_name}, Python {self.python}")


def installed() -> Versions:
    """Returns the versions of this interpreter's packages, without importing them."""
    folders = _metadata_folders()
    tensorflow = (of_package(name, folders) for name in _TENSORFLOW_PACKAGES)
    return Versions(
        ".".join(map(str, sys.version_info[:3])), next(filter(None, tensorflow), None),
        *(of_package(name, folders) for name in ("tensorflow-estimator", "tf_keras", "keras")))


def of_package(package: str, folders: Optional[Dict[str, str]] = None) -> Optional[str]:
    """Returns the version of a package; None if it is not installed.

    A wheel's folder has the version in its name: `tf_keras-2.21.0.dist-info`. Python's
    importlib.metadata is only used for other packages, because importing it and reading five
    packages takes longer than all of `--help`. `folders` are those of `_metadata_folders`.
    """
    folder = (_metadata_folders() if folders is None else folders).get(_plain(package), "")
    match = _WHEEL.search(folder)
    if match:
        # A failed uninstallation leaves a folder without this file.
        return match[1] if os.path.isfile(os.path.join(folder, "METADATA")) else None
    from importlib import metadata
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def means_legacy_keras(value: Optional[str]) -> bool:
    """Returns whether `value` of TF_USE_LEGACY_KERAS makes TensorFlow use Keras 2."""
    return value in _LEGACY_KERAS_VALUES


def problems(found: Versions, legacy_keras: Optional[str] = None) -> List[str]:
    """Returns one sentence, with the command that repairs it, for each impossible combination."""
    if found.tensorflow is None:
        return [f"TensorFlow is not installed. Type: {_INSTALL_NEWEST}"]
    if _minor(found.tensorflow) < NATIVE:
        return [f"TensorFlow is {found.tensorflow} (installed); expected 2.15 or newer. "
                f"Type: {_INSTALL_NEWEST}"]
    result = _python_problems(found)
    if found.estimator != ESTIMATOR:
        result.append(f"tensorflow-estimator is {found.estimator or 'missing'} (installed); "
                      f"expected {ESTIMATOR}, its last release. "
                      f'Type: {_INSTALL} "tensorflow-estimator=={ESTIMATOR}"')
    if found.mode == "native":
        return result + _native_keras_problems(found, legacy_keras)
    return result + _compat_keras_problems(found, legacy_keras)


def warnings(found: Versions) -> List[str]:
    """Returns one sentence for each combination that is untested."""
    if _minor(found.tensorflow) <= NEWEST_TESTED:
        return []
    newest = f"{NEWEST_TESTED[0]}.{NEWEST_TESTED[1]}"
    return [f"TensorFlow is {found.tensorflow} (installed), newer than {newest}, the newest that "
            f"Estimator was tested on here; if it fails, type: {_INSTALL_NEWEST}"]


def _python_problems(found: Versions) -> List[str]:
    native = found.mode == "native"
    oldest, newest = _NATIVE_PYTHONS if native else _COMPAT_PYTHONS
    if oldest <= _minor(found.python) <= newest:
        return []
    allowed = f"{oldest[0]}.{oldest[1]} to {newest[0]}.{newest[1]}"
    repair = "python3.11" if native else "python3.12"
    return [f"Python is {found.python} (this interpreter); with TensorFlow {found.tensorflow} "
            f"expected {allowed}. For example: {repair} -m venv .venv"]


def _native_keras_problems(found: Versions, legacy_keras: Optional[str]) -> List[str]:
    if means_legacy_keras(legacy_keras):
        if found.tf_keras is None or _minor(found.tf_keras) != NATIVE:
            return [f"{LEGACY_KERAS_VARIABLE} is {legacy_keras!r} (from the environment), but "
                    f"tf_keras is {found.tf_keras or 'missing'} (installed); TensorFlow "
                    f"{found.tensorflow} has Keras 2 without it. "
                    f"Type: unset {LEGACY_KERAS_VARIABLE}"]
    elif _minor(found.keras) >= (3, 0):
        return [f"keras is {found.keras} (installed); with TensorFlow {found.tensorflow} expected "
                f'2.15. Type: {_INSTALL} "keras==2.15.*"']
    return []


def _compat_keras_problems(found: Versions, legacy_keras: Optional[str]) -> List[str]:
    result = []
    if legacy_keras and not means_legacy_keras(legacy_keras):
        result.append(f"{LEGACY_KERAS_VARIABLE} is {legacy_keras!r} (from the environment), which "
                      "makes tf.keras Keras 3; Estimator needs Keras 2, expected 1 or not set. "
                      f"Type: unset {LEGACY_KERAS_VARIABLE}")
    major, minor = _minor(found.tensorflow)
    if _minor(found.tf_keras) != (major, minor):
        result.append(f"tf_keras (the Keras 2 that Estimator needs) is "
                      f"{found.tf_keras or 'missing'} (installed); with TensorFlow "
                      f"{found.tensorflow} expected {major}.{minor}. "
                      f'Type: {_INSTALL} "tf_keras=={major}.{minor}.*"')
    return result


def _metadata_folders() -> Dict[str, str]:
    """Returns the first folder or file of metadata on sys.path, by the package's plain name."""
    found: Dict[str, str] = {}
    for entry in sys.path:
        try:
            names = os.listdir(entry or ".")
        except OSError:
            continue
        for name in names:
            if name.endswith((".dist-info", ".egg-info")):
                found.setdefault(_plain(name.partition("-")[0]), os.path.join(entry, name))
    return found


def _plain(package: str) -> str:
    return re.sub(r"[-_.]+", "_", package).lower()


def _minor(version: Optional[str]) -> Tuple[int, int]:
    """Returns (2, 21) for `2.21.0rc1`, and (0, 0) for None or a text without a version."""
    match = re.match(r"(\d+)\.(\d+)", version or "")
    return (int(match[1]), int(match[2])) if match else (0, 0)
