"""Writes TF_CONFIG as each platform does, for every task of one job, in its words and order."""

from __future__ import annotations

import json
import string
from typing import Iterable

_ALL = (("chief", 0), ("worker", 0), ("worker", 1), ("ps", 0), ("evaluator", 0))
_MASTER = (("master", 0),) + _ALL[1:]
_WORKERS = (("worker", 0), ("worker", 1), ("worker", 2))


def _job(template: str, tasks: Iterable[tuple[str, int]],
         variable: str = "TF_CONFIG") -> list[dict[str, str]]:
    """Returns the environment of each task: `template` with its $type and $index."""
    return [{variable: string.Template(template).substitute(type=role, index=index)}
            for role, index in tasks]


_VERTEX_HOSTS = ('{"chief":["training-workerpool0-ab-0:2222"],'
                 '"ps":["training-workerpool2-ab-0:2222"],'
                 '"worker":["training-workerpool1-ab-0:2222",'
                 '"training-workerpool1-ab-1:2222"]}')
_VERTEX_TASK = '"task":{"cloud":"x-tp","index":$index,"trial":"1","type":"$type"}'
_POOLS = ('{"cluster":{"workerpool0":["cmle-training-workerpool0-ab-0:2222"],'
          '"workerpool1":["cmle-training-workerpool1-ab-0:2222",'
          '"cmle-training-workerpool1-ab-1:2222"],'
          '"workerpool2":["cmle-training-workerpool2-ab-0:2222"],'
          '"workerpool3":["cmle-training-workerpool3-ab-0:2222"]},"environment":"cloud",'
          '"task":{"type":"$type","index":$index,"trial":"1"},"job":{"scale_tier":"CUSTOM"}}')
_AI_PLATFORM = ('{"cluster":{"HEAD":["cmle-training-HOST-e118e0f997-0:2222"],'
                '"ps":["cmle-training-ps-e118e0f997-0:2222"],'
                '"worker":["cmle-training-worker-e118e0f997-0:2222",'
                '"cmle-training-worker-e118e0f997-1:2222"]},"environment":"cloud",'
                '"job":{"scale_tier":"STANDARD_1","job_dir":"gs://bucket/job"},'
                '"task":{"type":"$type","index":$index,"cloud":"w93a1503672d4dd09-ml"}}')
_TFJOB = ('{"cluster":{HEAD"evaluator":["test-tfjob-evaluator-0.ns3.svc:2222"],MASTER'
          '"ps":["test-tfjob-ps-0.ns3.svc:2222"],"worker":["test-tfjob-worker-0.ns3.svc:2222",'
          '"test-tfjob-worker-1.ns3.svc:2222"WORKER]},"task":{"type":"$type","index":$index},'
          '"environment":"cloud"}')
_FIVE = ('"cluster": {"chief": ["10.0.0.1:40001"], "worker": ["10.0.0.2:40002", "10.0.0.3:40003"],'
         ' "ps": ["10.0.0.4:40004"]%s}')
_PLAIN = '"task": {"type": "$type", "index": $index}'
_EVALUATOR = ', "evaluator": ["10.0.0.5:40005"]'
_THREE = '"cluster": {"worker": ["10.0.0.1:5000", "10.0.0.2:5000", "10.0.0.3:5000"]%s}'


def _tfjob(head: str = "", master: str = "", worker: str = "") -> str:
    return _TFJOB.replace("HEAD", head).replace("MASTER", master).replace("WORKER", worker)


def _ai_platform(head: str, host: str) -> str:
    return _AI_PLATFORM.replace("HEAD", head).replace("HOST", host)


_SAGEMAKER = ('{"cluster":{"master":["host1:2222"],"ps":["host1:2223","host2:2223"],'
              '"worker":["host2:2222"]},"environment":"cloud",'
              '"task":{"index":$index,"type":"$type"}}')
_SAGEMAKER_WORKERS = ('{"cluster":{"worker":["host1:8890","host2:8890","host3:8890"]},'
                      '"environment":"cloud","task":{"index":$index,"type":"worker"}}')
_YARN = "{" + _FIVE % "" + ', "environment": "%s", ' + _PLAIN + "}"

# The chief of each job comes first.
DIALECTS: dict[str, list[dict[str, str]]] = {
    "Vertex AI": _job(
        f'{{"cluster":{_VERTEX_HOSTS},"environment":"cloud","job":{{"job_args":["--x=1"]}},'
        f'{_VERTEX_TASK}}}', _ALL),
    "Vertex AI, job as a text": _job(
        f'{{"cluster":{_VERTEX_HOSTS},"environment":"cloud","job":"{{\\"python_module\\":\\"\\",'
        f'\\"package_uris\\":[],\\"job_args\\":[]}}",{_VERTEX_TASK}}}', _ALL),
    "Vertex AI, CLUSTER_SPEC": _job(_POOLS, [
        ("workerpool0", 0), ("workerpool1", 0), ("workerpool1", 1), ("workerpool2", 0),
        ("workerpool3", 0)], "CLUSTER_SPEC"),
    "AI Platform, chief": _job(_ai_platform("chief", "chief"), _ALL),
    "AI Platform, chief on a master's host": _job(_ai_platform("chief", "master"), _ALL),
    "AI Platform, master": _job(_ai_platform("master", "master"), _MASTER[:4]),
    "TFJob, chief": _job(_tfjob('"chief":["test-tfjob-chief-0.ns3.svc:2222"],'), _ALL),
    "TFJob, chief, cluster domain": _job(
        _tfjob('"chief":["test-tfjob-chief-0.ns3.svc:2222"],').replace(
            ".svc:", ".svc.tf.training.io:"), _ALL),
    "TFJob, master": _job(
        _tfjob(master='"master":["test-tfjob-master-0.ns3.svc:2222"],'), _MASTER),
    "TFJob, no head": _job(_tfjob(worker=',"test-tfjob-worker-2.ns3.svc:2222"'),
                           _WORKERS + _ALL[3:]),
    "Volcano": _job("{" + _FIVE % _EVALUATOR + ", " + _PLAIN + "}", _ALL),
    "SageMaker, ps": _job(_SAGEMAKER, [("master", 0), ("worker", 0), ("ps", 0), ("ps", 1)]),
    "SageMaker, all-reduce": _job(_SAGEMAKER_WORKERS, _WORKERS),
    "tf-yarn": _job(_YARN % "google", _ALL[:3]) + _job(_YARN % "", _ALL[3:]),
    "TonY": (_job("{" + _FIVE % "" + ", " + _PLAIN + "}", _ALL[:4]) +
             _job("{" + _FIVE % _EVALUATOR + ", " + _PLAIN + "}", _ALL[4:])),
    "TensorFlowOnSpark, chief": _job(
        "{" + _FIVE % _EVALUATOR + ", " + _PLAIN + ', "environment": "cloud"}', _ALL),
    "TensorFlowOnSpark, master": _job(
        "{" + (_FIVE % _EVALUATOR).replace("chief", "master") + ", " + _PLAIN +
        ', "environment": "cloud"}', _MASTER),
    "ecosystem jinja": _job(
        "{" + _THREE % ', "evaluator": ["10.0.0.5:5000"]' + ", " +
        _PLAIN.replace("$index", '"$index"') + "}", _WORKERS + _ALL[4:]),
    "Azure ML": _job(
        '{"cluster": {"ps": ["10.0.0.4:2222"], "worker": ["10.0.0.5:2222", "10.0.0.6:2222",'
        ' "10.0.0.7:2222"]}, ' + _PLAIN + ', "environment": "cloud"}',
        _WORKERS + (("ps", 0),)),
    "spark-tensorflow-distributor": _job("{" + _THREE % "" + ", " + _PLAIN + "}", _WORKERS),
    "Tensor2Tensor, sync": _job(
        '{"cluster": {"ps": ["10.0.0.2:5000", "10.0.0.3:5000"], "master": ["10.0.0.1:5000"]}, ' +
        _PLAIN + ', "environment": "cloud"}', [("master", 0), ("ps", 0), ("ps", 1)]),
    "Tensor2Tensor, async": _job(
        '{"cluster": {"ps": ["10.0.0.2:5000"], "chief": ["10.0.0.1:5000"], "worker":'
        ' ["10.0.0.3:5000"]}, ' + _PLAIN + ', "environment": "cloud"}',
        [("chief", 0), ("worker", 0), ("ps", 0)]),
    "R1 resnet flags": _job("{" + _THREE % "" + ", " + _PLAIN + "}", _WORKERS),
    "R1 resnet flags, map": _job(
        '{"cluster": {"worker": {"0": "10.0.0.1:1", "1": "10.0.0.2:1", "2": "10.0.0.3:1"}}, ' +
        _PLAIN + "}", _WORKERS),
}


def strategy(dialect: str) -> str:
    """Returns the strategy that fits the dialect's job."""
    text = "".join(DIALECTS[dialect][0].values())
    return "none" if '"ps"' in text or "workerpool2" in text else "multi_worker_mirrored"


def placed(dialect: str, addresses: dict[str, str]) -> dict[str, dict[str, str]]:
    """Returns the environments of some tasks of a dialect's job, with real addresses put in.

    Args:
      dialect: One of DIALECTS.
      addresses: The address of each task to keep, by name such as "worker:1"; the others are left
        out of every text. An evaluator is listed just where its platform lists it.
    """
    kept = {}
    for environment in DIALECTS[dialect]:
        [(variable, text)] = environment.items()
        value = json.loads(text)
        task = value["task"]
        name = f"{task['type']}:{task['index']}"
        if name not in addresses:
            continue
        cluster = {role: [addresses[f"{role}:{i}"] for i in range(len(hosts))
                          if f"{role}:{i}" in addresses]
                   for role, hosts in value["cluster"].items()}
        value["cluster"] = {role: hosts for role, hosts in cluster.items() if hosts}
        kept[name] = {variable: json.dumps(value, separators=(",", ":"))}
    return kept
