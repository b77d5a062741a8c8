"""TensorFlow Model Analysis evaluates an export that takes examples, and finds the same metrics."""

from __future__ import annotations

import json
import os
import subprocess
import textwrap

import pytest
import tensorflow as tf

from tests.support import jobs

# An interpreter that has tensorflow-model-analysis, such as 0.52.0 on Python 3.10.
OTHER = os.environ.get("TFMA_PYTHON", "")

pytestmark = [
    pytest.mark.cluster, pytest.mark.soak, pytest.mark.timeout(600),
    pytest.mark.skipif(not OTHER, reason="TFMA_PYTHON names no Python with TFMA"),
]

ANALYSIS = textwrap.dedent("""
    import json, sys
    import tensorflow_model_analysis as tfma
    from tensorflow_model_analysis.proto import config_pb2

    export, data, output, signature = sys.argv[1:]
    config = config_pb2.EvalConfig(
        model_specs=[config_pb2.ModelSpec(signature_name=signature, label_key="left",
                                           prediction_key="logistic")],
        metrics_specs=[config_pb2.MetricsSpec(metrics=[
            config_pb2.MetricConfig(class_name=name)
            for name in ("ExampleCount", "BinaryAccuracy", "AUC", "BinaryCrossEntropy")])],
        slicing_specs=[config_pb2.SlicingSpec()])
    shared = tfma.default_eval_shared_model(
        eval_saved_model_path=export, eval_config=config, tags=["serve"])
    result = tfma.run_model_analysis(eval_shared_model=shared, eval_config=config,
                                     data_location=data, output_path=output)
    [metrics] = [found[""][""] for _, found in result.slicing_metrics]
    print(json.dumps({name: value["doubleValue"] for name, value in metrics.items()}))
""")


def _write_data(folder):
    """Writes rows as a table and as tf.Examples; returns the two files."""
    rows = [(18 + 7 * i % 50, ("cook", "smith")[i % 2], int(i * i % 7 < 3)) for i in range(300)]
    table, records = folder / "rows.csv", folder / "rows.tfrecord"
    table.write_text("age,job,left\n" + "".join(f"{a},{j},{left}\n" for a, j, left in rows))
    with tf.io.TFRecordWriter(str(records)) as writer:
        for age, job, left in rows:
            example = tf.train.Example()
            example.features.feature["age"].float_list.value.append(age)
            example.features.feature["job"].bytes_list.value.append(job.encode())
            example.features.feature["left"].int64_list.value.append(left)
            writer.write(example.SerializeToString())
    return table, records


@pytest.mark.parametrize("kinds, signature", [
    ("example", "serving_default"), ("raw,example", "example:predict")])
def test_tfma_finds_the_metrics_of_our_evaluation(tmp_path, kinds, signature):
    table, records = _write_data(tmp_path)
    ran = jobs.trainer(
        "--model_fn=canned", "--input_fn=csv", f"--param=train_files={table}", "--train_steps=50",
        f"--param=eval_files={table}", "--param=label=left", f"--serving_input={kinds}",
        f"--model_dir={tmp_path}/m")
    assert ran.returncode == 0, ran.stderr
    ours = jobs.result(tmp_path / "m")["metrics"]
    [export] = (tmp_path / "m" / "export" / "final").iterdir()
    analyzed = subprocess.run(
        [OTHER, "-c", ANALYSIS, export, records, tmp_path / "analysis", signature], text=True,
        capture_output=True, timeout=300, env=jobs.environment(PYTHONPATH=""), check=False)
    assert analyzed.returncode == 0, analyzed.stderr[-3000:]
    found = json.loads(analyzed.stdout.splitlines()[-1])
    assert found["example_count"] == 300
    assert found["binary_accuracy"] == pytest.approx(ours["accuracy"], abs=1e-6)
    assert found["binary_crossentropy"] == pytest.approx(ours["average_loss"], abs=1e-5)
    assert found["auc"] == pytest.approx(ours["auc"], abs=5e-3)
