"""Packaging of estimator_trainer and its plug-ins."""

import pathlib
import re

import setuptools

_HERE = pathlib.Path(__file__).parent
_VERSION = re.search(r'__version__ = "(.+)"',
                     (_HERE / "estimator_trainer" / "__init__.py").read_text()).group(1)
# In the package, because `estimator-trainer manifest` packs it for other machines.
_REQUIREMENTS = [line for line in
                 (_HERE / "estimator_trainer" / "requirements.txt").read_text().splitlines()
                 if not line.startswith("#")]

# The files that `estimator-trainer init` writes.
_STARTER = [f"starter/{path.name}" for path in (_HERE / "estimator_trainer/starter").iterdir()
            if path.suffix in (".txt", ".csv")]
# The files of which the page of a run is made, uPlot among them.
_PAGE = [f"reports/web/{path.name}"
         for path in (_HERE / "estimator_trainer/reports/web").iterdir()]
# The versions that were tested together, for `pip install -c`.
_CONSTRAINTS = [f"constraints/{path.name}"
                for path in (_HERE / "estimator_trainer/constraints").glob("*.txt")]

# The names that tf.contrib had.
_TF1_NAMES = "compat/tensorflow1/contrib_names.txt"
# tf.contrib's layers and slim are in tf_slim; its ScipyOptimizerInterface calls SciPy.
_TF1 = ["tf_slim>=1.1", "scipy"]
_DOCS = "mkdocs-material"
# Code, a picture, or a link; in the last two, the target is a file of the repository or a heading.
_LOCAL = re.compile(r'(?P<code>^```.*?^```)|<img\s[^>]*src="(?!https?:)[^>]*>\n*'
                    r"|\[?!\[[^\]]*\]\((?!https?:)[^)]*\)(?:\]\([^)]*\))?\n*"
                    r"|\[(?P<text>[^\[\]]*)\]\((?!https?:)(?P<file>[^)#]*)[^)]*\)", re.M | re.S)


def _without_local_targets(markdown: str) -> str:
    """Returns a text for a page that has no repository beside it, such as that of an index.

    A link to a file becomes plain text with the file's name; local pictures are left out.
    """
    def plain(found: "re.Match[str]") -> str:
        code, text, file = found.group("code", "text", "file")
        if code or text is None:
            return code or ""
        return f"{text} ({file})" if file and file not in text else text

    return _LOCAL.sub(plain, markdown)


setuptools.setup(
    name="estimator_trainer",
    version=_VERSION,
    description="Trains and evaluates a tf.estimator model from a model_fn and an input_fn.",
    long_description=_without_local_targets((_HERE / "README.md").read_text(encoding="utf-8")),
    long_description_content_type="text/markdown",
    keywords=["tensorflow", "estimator", "tf.estimator", "distributed training", "TF_CONFIG",
              "parameter server", "kubernetes", "vertex ai", "slurm"],
    classifiers=[
        "Development Status :: 5 - Production/Stable",
        "Environment :: Console",
        "Intended Audience :: Developers",
        "Intended Audience :: Science/Research",
        "Operating System :: POSIX :: Linux",
        "Programming Language :: Python :: 3",
        *(f"Programming Language :: Python :: 3.{minor}" for minor in range(10, 14)),
        "Topic :: Scientific/Engineering :: Artificial Intelligence",
        "Typing :: Typed",
    ],
    packages=setuptools.find_packages(
        where=str(_HERE),
        include=["estimator_trainer*", "input_fns*", "model_fns*"]),
    package_data={"estimator_trainer": ["py.typed", "requirements.txt", *_CONSTRAINTS, *_STARTER,
                                        *_PAGE, _TF1_NAMES],
                  "input_fns": ["digits.csv.gz", "py.typed"], "model_fns": ["py.typed"]},
    license_files=["NOTICE", "estimator_trainer/reports/web/uPlot.LICENSE"],
    python_requires=">=3.10,<3.14",
    install_requires=_REQUIREMENTS,
    extras_require={
        "tf215": [
            "tensorflow==2.15.*",
            "tf_keras==2.15.*",
            # TensorFlow 2.15 wants protobuf 4, and newer tensorflow-metadata wants 5 without
            # saying so: `import tensorflow_datasets` then loses its API.
            "tensorflow-metadata<1.17",
        ],
        "tensorboard": ["tensorboard"],
        # For --track, as in estimator_trainer/plugins/trackers.py.
        "mlflow": ["mlflow>=3.17,<4"],
        "wandb": ["wandb>=0.28,<1"],
        # For estimator_trainer.beam, on TensorFlow 2.15 and Python 3.10 or 3.11.
        "beam": ["apache-beam[tfrecord]>=2.77,<3"],
        # For programs of TensorFlow 1.
        "tf1": _TF1,
        # The manual, as a site.
        "docs": [_DOCS],
        "dev": ["coverage", "flake8", "isort", "mypy", "pytest", "pytest-timeout", "pytest-xdist",
                "tensorboard", *_TF1, _DOCS,
                # The page of a run in a browser, what it says to a screen reader, and formulas.
                "selenium", 'axe-selenium-python>=3; python_version >= "3.12"', "scikit-learn",
                # The page on paper.
                "pypdfium2",
                # Damaged files, texts and settings that nobody would think of.
                "hypothesis",
                # The distributions are built, and looked at as a package index does.
                "build", "twine", "readme_renderer[md]", "setuptools", "wheel",
                # A real notebook kernel, and what data scientists have in one.
                "nbclient", "ipykernel", 'pandas; python_version > "3.10"',
                'matplotlib; python_version > "3.10"',
                # The schemas that the tests of `manifest` check against.
                "google-api-python-client",
                # The Cloud Storage of the tests, and an S3 for TensorFlow 2.15 and its plugin.
                "trustme", 'moto[server]; python_version < "3.12"',
                'tensorflow-io==0.36.*; python_version < "3.12"'],
    },
    entry_points={"console_scripts": ["estimator-trainer = estimator_trainer.cli:main"]},
)
