"""The GPUs of this machine, as nvidia-smi lists them, without TensorFlow."""

from __future__ import annotations

import shutil
import subprocess


def listed(limit_secs: float) -> list[str]:
    """Returns a line for each GPU, such as "GPU 0: NVIDIA H100 80GB HBM3 (UUID: ...)".

    Args:
      limit_secs: How long nvidia-smi may take.

    Raises:
      FileNotFoundError: if there is no nvidia-smi.
      OSError, TimeoutExpired: if it fails.
    """
    program = shutil.which("nvidia-smi")
    if program is None:
        raise FileNotFoundError("no nvidia-smi on this machine")
    ran = subprocess.run([program, "-L"], capture_output=True, text=True, check=False,
                         timeout=limit_secs)
    return [line for line in ran.stdout.splitlines() if line.startswith("GPU ")]
