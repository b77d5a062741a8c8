"""The Dockerfile of a job's image installs the source package on a Python like this one."""

from __future__ import annotations

import sys

from estimator_trainer.settings.job_config import JobConfig

# The number of the user, and of its group, as whom the pods run.
USER = 65532

_TEXT = """\
# The image of every task: docker build -t IMAGE FOLDER, FOLDER being where this file lies.
FROM python:{python}-slim
COPY {package} /tmp/
# Add what your plug-ins import beside TensorFlow to this line. The lines below it leave out of the
# image the headers with which operations are compiled (up to 450 MB), not run, and tests.
RUN pip install --no-cache-dir /tmp/{package}{extra} \\
    && cd "$(python -c 'import sysconfig; print(sysconfig.get_path("platlib"))')" \\
    && rm -rf tensorflow/include pyarrow/include pyarrow/tests numpy/tests numpy/*/tests
# A task's log must not wait in a buffer that a kill would lose.
ENV PYTHONUNBUFFERED=1
{user}ENTRYPOINT ["estimator-trainer"]
"""
# A name would not do: only of a number does Kubernetes know that it is not root's.
_NOT_ROOT = """\
# It owns no file of the image; it writes into model_dir, and temporary files into /tmp.
ENV HOME=/tmp
WORKDIR /tmp
USER {user}:{user}
"""


def text(package: str, tensorflow: str, job: JobConfig) -> str:
    """Returns the Dockerfile.

    Args:
      package: Name of the source package beside the Dockerfile.
      tensorflow: TensorFlow's version, such as "2.15".
      job: The job. With GPUs the image needs CUDA, which TensorFlow's extra brings as Python
        packages (https://www.tensorflow.org/install/pip).
    """
    python = ".".join(map(str, sys.version_info[:2]))
    extra = f' "tensorflow[and-cuda]=={tensorflow}.*"' if job.gpus else ""
    # Google's services run each job on machines of its own, and do not say whether another user
    # than root may write below /gcs.
    is_googles = job.platform in ("vertex", "ai-platform")
    user = "" if is_googles else _NOT_ROOT.format(user=USER)
    return _TEXT.format(python=python, package=package, extra=extra, user=user)
