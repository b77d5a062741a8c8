"""The Dockerfile of a job's image installs the source package on a Python like this one."""

from __future__ import annotations

import sys

_TEXT = """\
# The image of every task: docker build -t IMAGE FOLDER, FOLDER being where this file lies.
FROM python:{python}-slim
COPY {package} /tmp/
# Add what your plug-ins import beside TensorFlow to this line.
RUN pip install --no-cache-dir /tmp/{package}{extra}
# A task's log must not wait in a buffer that a kill would lose.
ENV PYTHONUNBUFFERED=1
ENTRYPOINT ["estimator-trainer"]
"""


def text(package: str, tensorflow: str, gpus: int) -> str:
    """Returns the Dockerfile.

    Args:
      package: Name of the source package beside the Dockerfile.
      tensorflow: TensorFlow's version, such as "2.15".
      gpus: Whether the image needs CUDA, which TensorFlow's extra brings as Python packages
        (https://www.tensorflow.org/install/pip).
    """
    python = ".".join(map(str, sys.version_info[:2]))
    extra = f' "tensorflow[and-cuda]=={tensorflow}.*"' if gpus else ""
    return _TEXT.format(python=python, package=package, extra=extra)
