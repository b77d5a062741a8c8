"""TensorBoard gets more than curves: record, hparams, PR curves, images of errors."""

from __future__ import annotations

import numpy as np
from tensorboard.backend.event_processing import event_accumulator

from estimator_trainer.evaluation.classification import Classification
from estimator_trainer.record import record_file
from estimator_trainer.record.run_record import RunRecord
from estimator_trainer.reports import tensorboard


def _tags(folder):
    reader = event_accumulator.EventAccumulator(str(folder))
    reader.Reload()
    return reader, {tag: reader.SummaryMetadata(tag).plugin_data.plugin_name
                    for tag in reader.Tags()["tensors"]}


def test_write_leaves_what_tensorboard_reads(tmp_path):
    record_file.write(str(tmp_path), RunRecord(params={"learning_rate": 0.1, "sizes": [1, 2]}))
    judged = Classification()
    for label, predicted in ((0, 0), (1, 1), (1, 0)):
        judged.add(label, predicted, np.eye(2)[predicted] * 0.8 + 0.1,
                   {"image": np.ones([3, 5, 1], np.float32)})
    tensorboard.write(str(tmp_path), {"global_step": 7, "accuracy": 2 / 3}, judged.content())
    reader, tags = _tags(tmp_path)
    assert tags["record"] == "text" and "learning_rate" in str(reader.Tensors("record"))
    assert {plugin for tag, plugin in tags.items() if "hparams" in tag} == {"hparams"}
    reader, tags = _tags(tmp_path / "eval")
    assert tags["pr_curve/1/pr_curves"] == "pr_curves"
    assert reader.Tensors("pr_curve/1/pr_curves")[0].step == 7
    [image] = reader.Images("worst_errors/0")
    assert (image.width, image.height) == (5, 3)


def test_write_without_a_readable_record_fails_no_job(tmp_path, caplog):
    (tmp_path / "record.json").write_text("{")
    tensorboard.write(str(tmp_path), {"global_step": 1}, None)
    assert "cannot write events" in caplog.text
