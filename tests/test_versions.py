"""Messages about the installed versions are right, and come in time."""

from __future__ import annotations

from importlib import metadata
import subprocess
import sys

import pytest

from estimator_trainer import versions

NATIVE = versions.Versions("3.11.7", "2.15.1", "2.15.0", None, "2.15.0")
COMPAT = versions.Versions("3.12.1", "2.21.0", "2.15.0", "2.21.0", "3.15.1")


def test_versions_name_everything_that_matters_in_one_line():
    assert str(NATIVE) == ("TensorFlow 2.15.1, tensorflow-estimator 2.15.0 (native), "
                           "Keras 2 (keras 2.15.0), Python 3.11.7")
    assert str(COMPAT) == ("TensorFlow 2.21.0, tensorflow-estimator 2.15.0 (compat), "
                           "Keras 2 (tf_keras 2.21.0), Python 3.12.1")


@pytest.mark.parametrize("found, legacy_keras", [
    (NATIVE, None),
    (NATIVE, "0"),
    (NATIVE._replace(tf_keras="2.15.1"), "1"),
    (NATIVE._replace(python="3.9.18"), None),
    (COMPAT, None),
    (COMPAT, ""),
    (COMPAT, "1"),
    (COMPAT, "True"),
    (COMPAT._replace(tensorflow="2.16.2", tf_keras="2.16.0", python="3.10.13"), None),
    (COMPAT._replace(keras=None, python="3.13.0"), None),
])
def test_problems_and_warnings_are_none_for_what_works(found, legacy_keras):
    assert versions.problems(found, legacy_keras) == []
    assert versions.warnings(found) == []


@pytest.mark.parametrize("found, legacy_keras, got, repair", [
    (COMPAT._replace(tensorflow=None), None, "TensorFlow is not installed", "tensorflow==2.21.*"),
    (COMPAT._replace(tensorflow="2.14.1"), None, "TensorFlow is 2.14.1", "tensorflow==2.21.*"),
    (COMPAT._replace(python="3.14.0"), None, "Python is 3.14.0", "python3.12 -m venv"),
    (COMPAT._replace(python="3.9.18"), None, "expected 3.10 to 3.13", "python3.12 -m venv"),
    (NATIVE._replace(python="3.12.1"), None, "expected 3.9 to 3.11", "python3.11 -m venv"),
    (COMPAT._replace(estimator=None), None, "tensorflow-estimator is missing", "==2.15.0"),
    (COMPAT._replace(estimator="2.14.0"), None, "tensorflow-estimator is 2.14.0", "==2.15.0"),
    (COMPAT._replace(tf_keras=None), None, "tf_keras (the Keras 2 that Estimator needs) is missing",
     '"tf_keras==2.21.*"'),
    (COMPAT._replace(tf_keras="2.20.1"), None, "is 2.20.1 (installed)", '"tf_keras==2.21.*"'),
    (COMPAT, "0", "TF_USE_LEGACY_KERAS is '0'", "unset TF_USE_LEGACY_KERAS"),
    (COMPAT, "false", "TF_USE_LEGACY_KERAS is 'false'", "unset TF_USE_LEGACY_KERAS"),
    (COMPAT, "yes", "makes tf.keras Keras 3", "unset TF_USE_LEGACY_KERAS"),
    (NATIVE, "1", "tf_keras is missing", "unset TF_USE_LEGACY_KERAS"),
    (NATIVE._replace(keras="3.4.1"), None, "keras is 3.4.1", '"keras==2.15.*"'),
])
def test_problems_of_an_impossible_combination_show_the_command(found, legacy_keras, got, repair):
    (sentence,) = versions.problems(found, legacy_keras)
    assert got in sentence
    assert repair in sentence
    assert "\n" not in sentence


def test_problems_of_two_mistakes_are_two_sentences():
    assert len(versions.problems(COMPAT._replace(estimator=None, tf_keras=None), "0")) == 3


def test_warnings_of_too_new_a_tensorflow():
    found = COMPAT._replace(tensorflow="2.22.0rc1", tf_keras="2.22.0")
    assert versions.problems(found) == []
    (sentence,) = versions.warnings(found)
    assert "TensorFlow is 2.22.0rc1" in sentence
    assert "newer than 2.21" in sentence


def test_installed_imports_no_tensorflow():
    code = ("import sys; from estimator_trainer import versions; found = versions.installed(); "
            "print(found, versions.problems(found), versions.warnings(found)); "
            "sys.exit('tensorflow' in sys.modules or 'absl' in sys.modules)")
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=60).returncode == 0


@pytest.mark.parametrize("package", ["tensorflow", "tensorflow-estimator", "tf_keras", "keras",
                                     "absl-py", "typing_extensions", "no-such-package"])
def test_of_package_reads_the_folders_name_like_its_metadata(package):
    try:
        expected = metadata.version(package)
    except metadata.PackageNotFoundError:
        expected = None
    assert versions.of_package(package) == expected


@pytest.mark.parametrize("name, text, expected", [
    ("Some_Package-1.5+cu12.dist-info", "Version: 1.5+cu12", "1.5+cu12"),
    ("some.package-2.0rc1.dist-info", "Version: 2.0rc1", "2.0rc1"),
    # Other tools than pip leave these.
    ("some_package.egg-info", "Version: 3.1", "3.1"),
    ("~ome_package-9.0.dist-info", "Version: 9.0", None)])
def test_of_package_finds_any_spelling(name, text, expected, tmp_path, monkeypatch):
    folder = tmp_path / name
    folder.mkdir()
    file = "PKG-INFO" if name.endswith("egg-info") else "METADATA"
    (folder / file).write_text(f"Metadata-Version: 2.1\nName: some-package\n{text}\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert versions.of_package("some-package") == expected


def test_of_package_ignores_a_folder_that_pip_left_empty(tmp_path, monkeypatch):
    (tmp_path / "some_package-1.0.dist-info").mkdir()
    monkeypatch.syspath_prepend(str(tmp_path))
    assert not versions.of_package("some-package")
