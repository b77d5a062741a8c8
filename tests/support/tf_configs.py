"""Writes TF_CONFIG texts for the tests, with the clusters that are to be read from them."""

from __future__ import annotations

import json
from typing import Any

A, B, C, D, E = (f"host{i}:2222" for i in range(5))


def config(cluster: Any, role: Any = "worker", index: Any = 0, **extra: Any) -> str:
    return json.dumps({"cluster": cluster, "task": {"type": role, "index": index}, **extra})


# Each case is what one task is told, and what the user gets.
# text, role, index, name, cluster, (num_input_pipelines, input_pipeline_id)
CHIEF_WORKER = {"chief": (A,), "worker": (B,)}
ALL_ROLES = {"chief": (A,), "worker": (B, C), "ps": (D,)}
