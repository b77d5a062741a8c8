"""Packaging of estimator_trainer and its plug-ins."""

import pathlib
import re

import setuptools

_HERE = pathlib.Path(__file__).parent
_VERSION = re.search(r'__version__ = "(.+)"',
                     (_HERE / "estimator_trainer" / "__init__.py").read_text()).group(1)

setuptools.setup(
    name="estimator_trainer",
    version=_VERSION,
    description="Trains and evaluates a tf.estimator model from a model_fn and an input_fn.",
    long_description=(_HERE / "README.md").read_text(),
    long_description_content_type="text/markdown",
    packages=["estimator_trainer", "estimator_trainer.compat", "model_fns", "input_fns"],
    package_data={"input_fns": ["digits.csv.gz"]},
    python_requires=">=3.10,<3.14",
    install_requires=[
        "absl-py",
        "tensorflow>=2.15.1,<2.22",
        "tensorflow-estimator==2.15.0",
        # tensorflow-estimator imports it without declaring it.
        "six",
        # Keras 2, in TensorFlow's own minor version; it requires that version by itself.
        "tf_keras>=2.15,<2.22",
        "tensorflow-datasets>=4.9.4",
        # tensorflow-datasets 4.9.10 imports it without declaring it.
        "importlib_resources",
    ],
    extras_require={
        "tf215": [
            "tensorflow==2.15.*",
            "tf_keras==2.15.*",
            # TensorFlow 2.15 wants protobuf 4, and newer tensorflow-metadata wants 5 without
            # saying so: `import tensorflow_datasets` then loses its API.
            "tensorflow-metadata<1.17",
        ],
        "dev": ["flake8", "isort", "mypy", "pytest", "pytest-timeout"],
    },
    entry_points={"console_scripts": ["estimator-trainer = estimator_trainer.cli:main"]},
)
