"""`manifest` writes what each platform needs, and refuses what could not run."""

from __future__ import annotations

import json
import pathlib
import re
import tarfile
from typing import Any

import pytest
import yaml

from estimator_trainer import cli, errors, versions
from estimator_trainer.cluster import ports, task_config, topology
from estimator_trainer.manifest import manifest, platform as platform_lib, source_package
from estimator_trainer.settings import job_config
from tests.support import platform_schemas
from tests.support.manifests import counts, documents, expanded, ODD, PLATFORMS, SHAPES, write


@pytest.mark.usefixtures('own_folder')
def test_write_refuses_a_param_that_names_a_file_here() -> None:
    with pytest.raises(errors.ConfigError, match="which the job does not pack"):
        write(flags=["--input_fn=csv", "--param", "train_files=./mine.csv"])


@pytest.mark.usefixtures('own_folder')
@pytest.mark.cluster
def test_write_makes_the_same_job_on_every_platform() -> None:
    for shape, strategy in SHAPES:
        if sum(shape.values()) == 1:
            continue  # No platform sets TF_CONFIG then.
        write("--platform=tfjob", *counts(shape), flags=[f"--train_distribute={strategy}"])
        replicas = documents()[1]["spec"]["tfReplicaSpecs"]
        operators = {key.lower(): spec["replicas"] for key, spec in replicas.items()}
        write("--platform=vertex", *counts(shape), flags=[f"--train_distribute={strategy}"])
        pools = [pool.get("replicaCount", 0) for pool in documents()[0]["workerPoolSpecs"]]
        vertexs = dict(zip(("chief", "worker", "ps"), pools))
        normal = []
        for roles in (operators, vertexs):
            cluster = {role: [f"{role}-{i}:2222" for i in range(count)]
                       for role, count in roles.items() if count}
            role = "chief" if "chief" in cluster else "worker"
            task = task_config.parse(json.dumps(
                {"cluster": cluster, "task": {"type": role, "index": 0}}))
            assert task.is_chief and not topology.problems(task, strategy, "none")
            normal.append({role: len(hosts) for role, hosts in task.cluster.items()})
        assert normal[0] == normal[1]


@pytest.mark.usefixtures('own_folder')
@pytest.mark.parametrize("platform", PLATFORMS)
def test_write_passes_flags_to_every_task_unchanged(platform: str) -> None:
    write(f"--platform={platform}", "--worker=2", "--ps=1", "--evaluator=1", flags=ODD)
    sent = ["--model_dir=gs://bucket/job", *ODD]
    found = list(_values_of("args", documents()))
    assert len(found) == (1 if platform == "ai-platform" else 4)
    for args in found:
        if platform in ("tfjob", "kubernetes", "jobset"):
            args = [expanded(arg, {"INDEX": "0", "HOME": "/root", "X": "x"}) for arg in args]
        assert args == sent


def _values_of(key: str, value: Any) -> Any:
    if isinstance(value, dict):
        yield from (inner for name, inner in value.items() if name == key)
    for inner in value.values() if isinstance(value, dict) else value:
        if isinstance(inner, (dict, list)):
            yield from _values_of(key, inner)


@pytest.mark.usefixtures('own_folder')
@pytest.mark.parametrize("value", [
    {"a": [[1, [2, 3]], {"b": {}}, []], "c": True, "d": None, "e": 1.5, "f": -3},
    {text: text for text in (
        "", " ", "yes", "No", "NULL", "~", "1", "1e3", "0x1", "2001-01-01", "a: b", "- a", "#",
        "a#", "'", '"', "\\", "\n", "\t", "é", "💥", "\u2028", "\ufeff", "\x85", "\x7f", "\x00",
        "=", "<<", "!x", "&a", "*a", "%", "@", "`", "a/b.c-d_e", ".inf", "n", "on", "8Gi",
        "a\nb", "{", "[", "Y", "0o17", "08", "1_000", "12:30:45", "0123", "1E3", "1e+3", "0X1")},
    [{"a": 1}, {"b": [{"c": {"d": "e"}}, "f"]}, [{"g": 1, "h": {"i": [1]}}]],
], ids=["shapes", "strings", "lists"])
def test_text_reads_back_as_what_was_written(value: Any) -> None:
    text = platform_lib.job([value, value], "A comment,\nof two lines.")["job.yaml"].decode()
    assert list(yaml.safe_load_all(text)) == [value, value]
    assert text.startswith("# A comment,\n# of two lines.\n") and "\n---\n" in text
    assert not re.search("[^'\"][&*]id0", text)


@pytest.mark.usefixtures('own_folder')
@pytest.mark.parametrize("text", ["y", "N", "yes", "on", "null", "1e3", "1E+3", "08", "0o17", "0X1",
                                  "0b1", "1_000", "12:30:45", "2001-01-01", ".5", "-1", "~", ""])
def test_text_quotes_what_would_be_another_type(text: str) -> None:
    # Go's YAML knows more numbers than PyYAML (gopkg.in/yaml.v2, resolve.go).
    written = platform_lib.job([{"key": text}], "")["job.yaml"].decode()
    assert written in (f'key: "{text}"\n', f"key: '{text}'\n")


@pytest.mark.usefixtures('own_folder')
def test_text_keeps_the_order_of_keys_and_long_lines() -> None:
    long = "--param=" + "word " * 100
    values = [{"kind": "Job", "args": [long], "image": "a/b:1"}]
    written = platform_lib.job(values, "C")["job.yaml"].decode()
    assert written == f'# C\nkind: Job\nargs:\n- "{long}"\nimage: "a/b:1"\n'


@pytest.mark.usefixtures('own_folder')
@pytest.mark.parametrize("platform", PLATFORMS)
def test_write_takes_nothing_from_the_environment(
        platform: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_SECRET_ACCESS_KEY", "GOOGLE_APPLICATION_CREDENTIALS", "TF_CONFIG_TOKEN"):
        monkeypatch.setenv(name, "s3cr3t-value")
    pathlib.Path(".env").write_text("KEY=s3cr3t-value")
    text = write(f"--platform={platform}", "--worker=1", "--ps=1")
    with tarfile.open(f"manifest/{source_package.NAME}") as tar:
        packed = b"".join(tar.extractfile(m).read() for m in tar if m.isfile())  # type: ignore
    files = b"".join(path.read_bytes() for path in pathlib.Path("manifest").iterdir())
    assert b"s3cr3t" not in packed + files + text.encode()


@pytest.mark.usefixtures('own_folder')
@pytest.mark.parametrize("platform, commands", [
    ("tfjob", ["docker build -t REGISTRY/digits:1 manifest", "docker push REGISTRY/digits:1",
               "kubectl apply -f manifest/job.yaml"]),
    ("kubernetes", ["docker build -t REGISTRY/digits:1 manifest", "kubectl apply -f manifest/job"]),
    ("jobset", ["docker push REGISTRY/digits:1", "kubectl apply -f manifest/job.yaml",
                "kubectl logs -n default -f job/estimator-trainer-chief-0"]),
    ("vertex", ["docker push REGISTRY/digits:1", "gcloud ai custom-jobs create --region=us-central1"
                " --display-name=estimator-trainer --config=manifest/job.yaml"]),
    ("ai-platform", ["gcloud ai-platform jobs submit training estimator_trainer_$(date",
                     " --config=manifest/job.yaml"]),
])
def test_write_prints_its_files_and_the_next_command(
        platform: str, commands: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["manifest", f"--platform={platform}", "--worker=1", "--ps=1",
                     "--image=REGISTRY/digits:1", "--", "--model_dir=gs://bucket/job"]) == 0
    text = capsys.readouterr().out
    for name in ("job.yaml", "Dockerfile", source_package.NAME):
        assert f"wrote manifest/{name}" in text and pathlib.Path("manifest", name).stat().st_size
    assert all(command in text for command in commands)
    assert "WARNING" not in text


@pytest.mark.usefixtures('own_folder')
@pytest.mark.parametrize("job_flags, flags, expected", [
    (["--name=Bad_Name"], [], ["name is 'Bad_Name' (from --name)", "--name=digits"]),
    (["--name=1st"], [], ["name is '1st'"]),
    (["--name=" + "n" * 41], [], ["at most 40"]),
    (["--namespace=-x"], [], ["namespace is '-x' (from --namespace)"]),
    (["--image=two words"], [], ["image is 'two words' (from --image)"]),
    (["--image="], [], ["image is missing (no --image)"]),
    (["--volume=shared"], [], ["volume is 'shared' (from --volume)", "--volume=training:/shared"]),
    (["--platform=vertex", "--region=Mars"], [], ["region is 'Mars' (from --region)"]),
    (["--platform=vertex", "--image="], ["--model_dir=/shared"],
     ["image is missing (no --image)", "staging_bucket is ''", "model_dir is '/shared'"]),
    (["--platform=ai-platform", "--image="], [], ["image is missing", "Python 3.7"]),
    (["--platform=ai-platform", "--gpus=1", "--gpu_type=NVIDIA_L4"], [],
     ["gpu_type is 'NVIDIA_L4'", "NVIDIA_TESLA_A100"]),
    (["--gpu_type=RTX"], [], ["gpu_type is 'RTX' (from --gpu_type)"]),
    (["--platform=nomad"], [], ["platform is 'nomad' (from --platform)"]),
    ([], ["--model_dir="], ["model_dir is missing (no --model_dir after `--`)", "gs://bucket/job"]),
    ([], ["--model_dir=out"], ["model_dir is 'out' (from --model_dir), relative to"]),
    ([], ["--warm_start_from=old/run"], ["warm_start_from is 'old/run'"]),
    ([], ["--flagfile=my.flags"], ["'--flagfile=my.flags' (from the words after `--`)"]),
    ([], ["--warm_start_vars=\udcff"], ["is not UTF-8"]),
    ([], ["--train_distribute=mirrored"], ["train_distribute is 'mirrored'", "span"]),
    ([], ["--model_fn=nope"], ["model_fn is 'nope'"]),
    ([], ["--param=nope=1"], ["nope"]),
    (["--output_dir=file.txt"], [], ["output_dir is 'file.txt' (from --output_dir)"]),
])
def test_write_refuses_what_could_not_run_and_writes_nothing(
        job_flags: list[str], flags: list[str], expected: list[str]) -> None:
    pathlib.Path("file.txt").touch()
    pathlib.Path("my.flags").write_text("--seed=1")
    with pytest.raises(errors.ConfigError) as error:
        write("--worker=2", "--ps=1", *job_flags, flags=flags)
    assert all(part in str(error.value) for part in expected), error.value
    assert "\n" not in str(error.value)
    assert not pathlib.Path("manifest").exists()


@pytest.mark.usefixtures('own_folder')
def test_write_names_every_problem_at_once() -> None:
    with pytest.raises(errors.ConfigError) as error:
        write("--worker=2", "--name=A", "--namespace=B", flags=["--model_dir=", "--model_fn=nope"])
    starts = [line.partition(" is ")[0] for line in str(error.value).splitlines()]
    assert starts == ["train_distribute", "model_dir", "model_fn", "name", "namespace"]


@pytest.mark.usefixtures('own_folder')
@pytest.mark.cluster
def test_write_warns_of_a_model_dir_inside_the_containers() -> None:
    for platform in PLATFORMS:
        text = write(f"--platform={platform}", flags=["--model_dir=/tmp/digits"])
        assert text.count("WARNING: model_dir is '/tmp/digits' (from --model_dir)") == 1
    assert "WARNING" not in write("--volume=disk:/shared", flags=["--model_dir=/shared/job"])
    assert "WARNING" in write("--volume=disk:/shared", flags=["--model_dir=/shared-not"])
    assert "WARNING" not in write("--platform=vertex", flags=["--model_dir=/gcs/bucket/job"])
    (spec,) = documents()
    assert "baseOutputDirectory" not in spec


@pytest.mark.usefixtures('own_folder')
def test_write_ignores_ports_and_variables_of_this_machine(
        monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ports, "_is_free", lambda address: False)
    monkeypatch.setenv("TF_CONFIG", "{not json")
    monkeypatch.setenv("TF_USE_LEGACY_KERAS", "0")
    write("--worker=1", "--ps=1")


@pytest.mark.usefixtures('own_folder')
def test_schemas_refuse_wrong_documents() -> None:
    write("--worker=1", "--ps=1", "--platform=kubernetes")
    service, policy, job = documents()[:3]
    write("--worker=1", "--ps=1", "--platform=tfjob")
    tfjob = documents()[1]
    for value, path, wrong in [
            (service, "spec.publishNotReady", True), (service, "spec.ports.0.port", "2222"),
            (policy, "spec.ingress.0.form", []), (policy, "spec.podSelector", []),
            (job, "spec.backoffLimit", "3"), (job, "spec.template.spec.containers.0.arg", []),
            (job, "spec.podFailurePolicy.rules.0.action", "Fail"),
            (job, "spec.template.spec.containers.0.name", None),
            (tfjob, "spec.runPolicy.cleanPodsPolicy", "All"), (tfjob, "spec.tfReplicaSpecs", None),
            (tfjob, "spec.tfReplicaSpecs.Chief.replicas", "1"),
            (tfjob, "spec.tfReplicaSpecs.Chief.template.spec.containers.0.image", 1)]:
        platform_schemas.check_kubernetes(value)
        with pytest.raises(AssertionError):
            platform_schemas.check_kubernetes(_changed(value, path, wrong))
    write("--platform=vertex", "--worker=1", "--ps=1")
    (spec,) = documents()
    for path, wrong in [("workerPoolSpec", []), ("workerPoolSpecs.0.replicas", 1),
                        ("workerPoolSpecs.0.machineSpec.acceleratorType", "RTX"),
                        ("workerPoolSpecs.0.replicaCount", "one"), ("workerPoolSpecs", {}),
                        ("workerPoolSpecs.0.containerSpec.args", [1]),
                        ("scheduling.disableRetries", "yes"), ("worker_pool_specs", [])]:
        with pytest.raises(AssertionError):
            platform_schemas.check_google("aiplatform.v1", "GoogleCloudAiplatformV1CustomJobSpec",
                                          _changed(spec, path, wrong))


def _changed(value: Any, path: str, new: Any) -> Any:
    """Returns a copy with one value set; None removes it."""
    copy = json.loads(json.dumps(value))
    *steps, last = [int(step) if step.isdigit() else step for step in path.split(".")]
    inner = copy
    for step in steps:
        inner = inner.setdefault(step, {}) if isinstance(inner, dict) else inner[step]
    if new is None:
        del inner[last]
    else:
        inner[last] = new
    return copy


def test_platforms_of_the_flag_are_those_of_the_table() -> None:
    assert tuple(manifest.BY_NAME) == job_config.PLATFORMS


@pytest.mark.usefixtures('own_folder')
def test_write_names_what_an_earlier_job_left_in_the_folder() -> None:
    assert "NOTE" not in write("--platform=kubernetes", "--image=REGISTRY/digits:1")
    left = [line for line in write("--platform=vertex", "--image=").splitlines()
            if line.startswith("NOTE")]
    assert left == ["NOTE: manifest/Dockerfile is of an earlier job, and no part of this one"]


@pytest.mark.usefixtures('own_folder')
@pytest.mark.parametrize("path", ["s3://bucket/job", "hdfs://namenode:8020/job"])
def test_write_refuses_a_file_system_that_the_job_lacks(
        path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    flags = [f"--model_dir={path}"]
    monkeypatch.setattr(versions, "installed", lambda: versions.Versions(
        "3.13.0", "2.21.0", "2.15.0", "2.21.0", "3.0.0"))
    for platform in ("vertex", "kubernetes", "slurm"):
        with pytest.raises(errors.ConfigError) as error:
            write(f"--platform={platform}", "--worker=1", "--ps=1", flags=flags)
        assert f"model_dir is {path!r} (from --model_dir), and TensorFlow 2.21" in str(error.value)
        assert "tensorflow-io" not in str(error.value)
        assert not pathlib.Path("manifest").exists()
    # Without an image Vertex AI has TensorFlow 2.15, and pip installs what opens it there.
    write("--platform=vertex", "--image=", "--staging_bucket=gs://bucket", "--worker=1", "--ps=1",
          flags=flags)
    with tarfile.open(f"manifest/{source_package.NAME}") as package:
        setup = package.extractfile(f"{source_package.STEM}/setup.py")
        assert setup is not None and b"'tensorflow-io==0.36.*'" in setup.read()
