"""Corrects a TF_CONFIG, for the example in an error: the user's cluster, as near as can be guessed.

Every guess is read again before it is shown, so it works when the user types it.
"""

import difflib
import json
import re
from typing import Any, Mapping

from estimator_trainer.cluster import declared_cluster

_STOCK = json.dumps({
    "cluster": {"chief": ["host0:2222"], "worker": ["host1:2222"], "ps": ["host2:2222"]},
    "task": {"type": "worker", "index": 0}})


def corrected(text: str) -> str:
    """Returns JSON of a TF_CONFIG that works, as near to `text` as can be guessed."""
    for candidate in _unquoted(text.strip()):
        try:
            value = json.loads(candidate)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            for guess in (_bare(value), json.dumps(_repaired(value))):
                spec = declared_cluster.read(guess)
                if spec.tasks and not spec.problems:
                    return guess
    return _STOCK


def _bare(value: Mapping[str, Any]) -> str:
    """Returns the cluster and the task alone; `job` holds the user's arguments, maybe secrets."""
    task = value.get("task")
    if isinstance(task, dict):
        # A platform or a user's program may add other keys.
        value = {**value, "task": {key: task[key] for key in ("type", "index") if key in task}}
    return json.dumps({key: value[key] for key in ("cluster", "task") if key in value})


def _unquoted(text: str) -> list[str]:
    """Returns texts that `text` may have been before quotes were changed, added or escaped."""
    inner = text.strip("'\"")
    return [text, text.replace("'", '"'), inner, inner.replace('\\"', '"')]


def _repaired(value: Mapping[str, Any]) -> dict[str, Any]:
    declared = value.get("cluster", value.get("sparseCluster"))
    cluster = _repaired_cluster(declared if isinstance(declared, dict) else value)
    task = value.get("task")
    task = task if isinstance(task, dict) else {}
    role = _nearest_role(str(task.get("type")))
    if role != "evaluator" and role not in cluster:
        role = next(iter(cluster), "")
    index = str(task.get("index"))
    last = len(cluster[role]) - 1 if role in cluster else 0
    is_index = index.isascii() and index.isdigit() and len(index) < 10 and int(index) <= last
    return {"cluster": cluster, "task": {"type": role, "index": int(index) if is_index else 0}}


def _repaired_cluster(declared: Mapping[str, Any]) -> dict[str, list[str]]:
    cluster: dict[str, list[str]] = {}
    taken: set[str] = set()
    for key, hosts in declared.items():
        if role := _nearest_role(key):
            addresses = [repaired_address(host, taken) for host in _listed(role, hosts)]
            cluster.setdefault(role, []).extend(addresses)
    cluster = {role: addresses for role, addresses in cluster.items() if addresses}
    # One head stays under its own name; other heads become workers.
    head = "master" if "master" in cluster and "chief" not in cluster else "chief"
    heads = cluster.pop("chief", []) + cluster.pop("master", [])
    if heads[1:]:
        cluster["worker"] = heads[1:] + cluster.get("worker", [])
    if not heads and cluster.keys() & {"ps", "data_worker"} and "worker" not in cluster:
        heads = ["chief0:2222"]
    return ({head: heads[:1]} if heads else {}) | cluster


def _nearest_role(key: str) -> str:
    name = key.strip().lower().removesuffix("_hosts")
    name = next(iter(difflib.get_close_matches(name, declared_cluster.ROLES, n=1)), "")
    return name if name in declared_cluster.ROLE_NAMES else declared_cluster.ROLES.get(name, "")


def _listed(role: str, hosts: Any) -> list[Any]:
    """Returns the hosts as a list, with an invented host for each missing one."""
    if isinstance(hosts, str):
        hosts = hosts.split(",")
    elif isinstance(hosts, dict):
        indices = [int(key) for key in hosts if re.fullmatch("[0-9]{1,3}", key)]
        hosts = [hosts.get(str(i)) for i in range(max(indices, default=0) + 1)]
    if not isinstance(hosts, list):
        return []
    return [host if isinstance(host, str) and host.strip() else f"{role}{i}:2222"
            for i, host in enumerate(hosts)]


def repaired_address(address: str, taken: set[str]) -> str:
    """Returns `address` with a host and a port of its own, adding it to `taken`."""
    # The part before `@` may be a password.
    bare = re.sub(r"[\s/]+.*$", "", re.sub(r"^.*(://|@)", "", address.strip()))
    host, _, text = bare.rpartition(":") if ":" in bare else (bare, "", "")
    if declared_cluster.is_ipv6(bare.strip("[]")) and not re.fullmatch("[0-9]{4,5}", text):
        host, text = bare.strip("[]"), ""
    if declared_cluster.is_ipv6(host):
        host = f"[{host}]"
    port = int(text) if re.fullmatch("[0-9]{1,5}", text) and 1 <= int(text) <= 65535 else 2222
    host = host if host.startswith("[") else re.sub("[:,]+", "-", host) or "localhost"
    while f"{host}:{port}" in taken:
        port = port % 65535 + 1
    taken.add(f"{host}:{port}")
    return f"{host}:{port}"
