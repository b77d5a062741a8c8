"""A ClusterSpec is a cluster as its platform declares it, or everything wrong with it.

    text ──► JSON object ──► tasks by role ──► which of them this process is

Only synonyms are resolved here; `task_config` makes the normal form.
"""

import dataclasses
import ipaddress
import json
import re
from typing import Any, Mapping, NamedTuple

from estimator_trainer.errors import near_match, Problem, Words

ROLE_NAMES = ("chief", "data_worker", "evaluator", "master", "ps", "worker")
# Role by name. Vertex AI's CLUSTER_SPEC numbers its pools by purpose, and programs of TensorFlow's
# first guide to clusters call the only job of a cluster `local`.
ROLES = {"chief": "chief", "master": "chief", "worker": "worker", "local": "worker", "ps": "ps",
         "evaluator": "evaluator", "data_worker": "data_worker", "workerpool0": "chief",
         "workerpool1": "worker", "workerpool2": "ps", "workerpool3": "evaluator"}

_ADDRESS = re.compile(r"(\[[0-9A-Fa-f:.%]+\]|[^\s/:,@]+):([0-9]{1,5})")
_SPARSE = ("because from a sparse map (TFJob's enableDynamicWorker) no task can tell how many share"
           " the data")
_INDEX = re.compile(r"\s*-?[0-9]{1,9}\s*")
# Their files, and the file in which the first gives out the checkpoints, hold so many.
MOST_EVALUATORS = 64


class Task(NamedTuple):
    """One task of a cluster."""

    name: str  # The platform's name of the task, such as "master:0".
    address: str
    path: str  # The JSON path of the address, such as `TF_CONFIG["cluster"]["master"][0]`.


@dataclasses.dataclass(frozen=True)
class ClusterSpec:
    """A cluster as its platform declares it; with problems, the other attributes mean nothing."""

    # The tasks of each role among chief, worker, ps, evaluator and data_worker.
    tasks: Mapping[str, tuple[Task, ...]] = dataclasses.field(default_factory=dict)
    role: str = ""  # The role of this task; "" when it has no cluster.
    index: int = 0  # The index of this task in its role.
    name: str = ""  # The platform's name of this task, such as "master:0"; "" without a cluster.
    # The whole JSON object, with its keys that are not about the cluster.
    value: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    problems: tuple[Problem, ...] = ()


def read(text: str, source: str = "TF_CONFIG") -> ClusterSpec:
    """Reads the JSON of TF_CONFIG, or of Vertex AI's CLUSTER_SPEC, which has the same shape.

    The text "{}" declares no cluster. `source` is the variable, for the paths in the problems.
    """
    reader = _Reader(source)
    value = reader.read_object(text)
    if reader.problems:
        return ClusterSpec(problems=tuple(reader.problems))
    reader.read_cluster(value)
    reader.check_cluster()
    role, index, name = reader.read_task(value.get("task") or {})
    return ClusterSpec(reader.tasks, role, index, name, value, tuple(reader.problems))


class _Reader:
    """A cluster as far as it has been read, and its problems."""

    def __init__(self, source: str):
        self.source = source
        self.problems: list[Problem] = []
        self.tasks: dict[str, tuple[Task, ...]] = {}
        self.declared: dict[str, str] = {}  # The key in the cluster, by role.
        self.is_whole = True  # Every role was understood: none hides behind another name.

    def reject(self, field: str, value: Any, path: str, expected: str, near: str = "") -> None:
        # A key has no path of its own, and is shown as it is.
        got = value if field == "key" else Words(_shown(value, path))
        self.problems.append(Problem(field, got, expected=expected, advice=near,
                                     source=f"{self.source}{path}"))

    def read_object(self, text: str) -> dict[str, Any]:
        try:
            value = json.loads(text)
        except (ValueError, RecursionError) as error:
            quotes = ", where texts take double quotes, not single ones" if "'" in text else ""
            why = error if isinstance(error, ValueError) else "too many brackets in each other"
            self.problems.append(Problem(
                self.source, Words(_shown_text(text)), f"which is not JSON: {why}",
                f"an object with \"cluster\" and \"task\"{quotes}, or none to train alone",
                source="the environment"))
            return {}
        if isinstance(value, dict):
            # The operator's own key; without "cluster", each worker would train alone.
            for key in (key for key in value if key.lower() == "sparsecluster"):
                self.reject("key", key, "", f'"cluster" with the list of every worker, {_SPARSE}')
            return value
        self.reject("value", value, "", 'a JSON object with "cluster" and "task"')
        return {}

    def read_cluster(self, value: Mapping[str, Any]) -> None:
        cluster = value.get("cluster") or {}
        if not isinstance(cluster, dict):
            self.reject("cluster", cluster, '["cluster"]',
                        'an object of roles, like {"chief": ["host:2222"]}')
            cluster, self.is_whole = {}, False
        for key in value:
            if key != "cluster" and key.lower() in (*ROLES, "cluster"):
                self.reject("key", key, "", 'the roles inside "cluster"')
                self.is_whole = False
        for key, hosts in cluster.items():
            name = key.strip().lower()
            role = ROLES.get(name, "")
            if not hosts and (role == "evaluator" or name.startswith("workerpool")):
                continue  # An empty role of some platforms.
            addresses = self.read_hosts(role, hosts, f'["cluster"][{json.dumps(key)}]')
            if not role:
                self.reject_role(key)
            elif role in self.declared:
                self.reject("role", key, '["cluster"]',
                            f"either it or {self.declared[role]!r}, which mean the same")
            else:
                self.declared[role] = key
                self.tasks[role] = tuple(
                    Task(f"{name}:{i}", *address) for i, address in enumerate(addresses))

    def reject_role(self, key: str) -> None:
        self.is_whole = False
        role = key.strip().lower().removesuffix("_hosts")
        if role in ROLE_NAMES:
            self.reject("role", key, '["cluster"]', f'"{role}", as in "{role}": ["host:2222"]')
        else:
            self.reject("role", key, '["cluster"]', f"one of {', '.join(ROLE_NAMES)}",
                        near_match(role, ROLE_NAMES))

    def read_hosts(self, role: str, hosts: Any, path: str) -> list[tuple[str, str]]:
        """Returns (address, path) of each task; wrong addresses count for the indices too."""
        if isinstance(hosts, list) and hosts:
            entries = [(host, f"{path}[{i}]") for i, host in enumerate(hosts)]
        elif isinstance(hosts, dict):
            # TFJob's dynamic workers know themselves alone, so a map of one task says nothing
            # about others, unless the role has room for one only.
            is_complete = hosts.keys() == {str(i) for i in range(len(hosts))}
            least = 1 if role in ("chief", "evaluator") else 2
            if not is_complete or len(hosts) < least:
                self.reject("hosts", hosts, path, f"the list of every {role or 'host'}, {_SPARSE}")
                return []
            entries = [(hosts[str(i)], f'{path}["{i}"]') for i in range(len(hosts))]
        else:
            self.reject("hosts", hosts, path,
                        'a list like ["host:2222"], or no such role if it has no task')
            return []
        for address, address_path in entries:
            if expected := address_fault(address):
                self.reject("address", address, address_path, expected)
        return [(str(address), address_path) for address, address_path in entries]

    def check_cluster(self) -> None:
        """Rejects a mix of roles that cannot work, even if each entry is fine by itself."""
        chiefs = self.tasks.get("chief", ())
        if len(chiefs) > 1:
            self.reject("hosts", [task.address for task in chiefs],
                        chiefs[0].path.rpartition("[")[0],
                        "one host, because a job has one chief")
        served = self.tasks.keys() & {"ps", "data_worker"}
        if self.is_whole and served and not self.tasks.keys() & {"chief", "worker"}:
            self.reject("cluster", sorted(self.tasks), '["cluster"]', "a chief or a worker as well,"
                        f" because {' and '.join(sorted(served, reverse=True))} train nothing")
        taken: dict[str, str] = {}
        for task in (task for group in self.tasks.values() for task in group):
            if task.address in taken and not address_fault(task.address):
                self.reject("address", task.address, task.path,
                            f"one of its own, because {taken[task.address]} has the same")
            taken.setdefault(task.address, task.name)

    def read_task(self, task: Any) -> tuple[str, int, str]:
        """Returns role, index and name of this task; "", 0, "" when it has no cluster."""
        if not isinstance(task, dict):
            self.reject("task", task, '["task"]', 'an object like {"type": "worker", "index": 0}')
            return "", 0, ""
        key = task.get("type") or None
        if key is None and not self.tasks:
            return "", 0, ""
        if key is None and [len(group) for group in self.tasks.values()] == [1]:
            role = next(iter(self.tasks))
            return role, 0, self.tasks[role][0].name  # There is no other task to be.
        name = key.strip().lower() if isinstance(key, str) else ""
        role = ROLES.get(name, "")
        is_missing = self.is_whole and role not in self.tasks and role != "evaluator"
        if not role or is_missing and self.tasks:
            is_known = self.is_whole and self.declared
            allowed = sorted({*self.declared.values(), "evaluator"}) if is_known else ROLE_NAMES
            self.reject("task type", key, '["task"]["type"]',
                        f"one of {', '.join(allowed)}", near_match(name, allowed))
            return "", 0, ""
        if is_missing and role in ("ps", "data_worker"):
            self.reject("cluster", None, '["cluster"]',
                        f"the {role} and the tasks that they serve")
        group = self.tasks.get(role, ())
        count = len(group) if self.tasks else 1
        index = task.get("index")
        if role == "evaluator" and not group:
            # A cluster that lists no evaluator does not tell their number.
            index, count = index or 0, MOST_EVALUATORS
        index = self.read_index(index, count)
        if is_missing:
            return "", 0, ""
        return role, index, group[index].name if group else f"{name}:{index}"

    def read_index(self, index: Any, count: int) -> int:
        """Returns the index of a task in a role of `count` tasks; 0 = no hosts are known."""
        if index is None and count == 1:
            return 0
        if isinstance(index, str) and _INDEX.fullmatch(index):
            index = int(index)
        is_whole = isinstance(index, int) and not isinstance(index, bool)
        if is_whole and (0 <= index < count or not count):
            return index if count else 0
        self.reject("task index", index, '["task"]["index"]',
                    {0: "a whole number", 1: "0, because there is one such task"}.get(
                        count, f"a whole number from 0 to {count - 1}"))
        return 0


def is_ipv6(host: str) -> bool:
    """Returns whether a host is an IPv6 address without brackets."""
    try:
        return bool(ipaddress.IPv6Address(host.partition("%")[0]))
    except ValueError:
        return False


def address_fault(address: Any) -> str:
    """Returns what is expected in place of `address`, or "" if it is fine."""
    if not isinstance(address, str):
        return 'a text like "host:2222"'
    scheme, separator, _ = address.partition("://")
    if separator:
        return f'"host:port" without "{scheme}://"' if scheme.isalnum() else '"host:port" alone'
    match = _ADDRESS.fullmatch(address)
    bare = address.strip("[]")
    if is_ipv6(bare) or is_ipv6(bare.rpartition(":")[0]) and not match:
        return '"[host]:port" of an IPv6 address, like "[::1]:2222"'
    if not match:
        return '"host:port", like "host:2222"'
    return "" if 1 <= int(match[2]) <= 65535 else '"host:port" with a port from 1 to 65535'


_JOB = re.compile(r"""(["']job\\*["'])\s*:.*""", re.IGNORECASE | re.DOTALL)
_MOST_CHARACTERS = 120
# Names that every platform uses; anything else that looks like a key may be a part of a secret.
_KEY = re.compile(r"\b(cluster|task|job|environment|type|index|trial|chief|master|worker|ps"
                  r"|evaluator|workerpool[0-3])\b(?=[\"'\\]*\s*[:=\[{])")
_MOST_KEYS = 6
# A host has no user, and the text before `@` may be a password.
_BEFORE_HOST = re.compile(r"[^\s'\"\[\]{},]+@")


def _shown(value: Any, path: str) -> str:
    """Returns the value at a JSON path as a message shows it; None is missing."""
    if value is None:
        return "missing"
    if '["job"]' in path.lower():
        return "..."
    if not path and value and isinstance(value, (str, list)):
        return f"a {'text' if isinstance(value, str) else 'list'} of length {len(value)}"
    shown = _BEFORE_HOST.sub("****@", _JOB.sub(r"\1...", repr(value)))
    return shown if len(shown) <= _MOST_CHARACTERS else shown[:_MOST_CHARACTERS - 3] + "..."


def _shown_text(text: str) -> str:
    """Returns the words for a text that is not JSON: its length and first keys, no value."""
    keys = list(dict.fromkeys(match[0] for match in _KEY.finditer(text)))
    named = f" with {', '.join(keys[:_MOST_KEYS])}" if keys else ""
    return f"a text of {len(text)} character{'s' * (len(text) != 1)}{named}"
