"""Each checkpoint is given to one of several evaluators, the newest first, and none is lost."""

from __future__ import annotations

import dataclasses
import types

import pytest

from estimator_trainer import deadlines
from estimator_trainer.coordination import checkpoints, shared_evaluation, shared_files
from estimator_trainer.coordination.job_state import JobState
from tests.support import jobs

pytestmark = pytest.mark.any_tensorflow


@pytest.fixture(autouse=True)
def intervals(monkeypatch):
    found = types.SimpleNamespace(now=dataclasses.replace(
        deadlines.poll_intervals(""), checkpoint_secs=0.0, member_lost_secs=1000.0))
    monkeypatch.setattr(deadlines, "poll_intervals", lambda model_dir: found.now)
    return found


class _Job:
    """A job whose checkpoints, end and evaluators a test decides; no thread runs."""

    def __init__(self, tmp_path, monkeypatch):
        self.model_dir, self.steps, self.final = str(tmp_path), [], None
        monkeypatch.setattr(checkpoints, "paths_in", lambda folder: [
            shared_evaluation.path_of(folder, step) for step in self.steps])
        monkeypatch.setattr(checkpoints, "latest", lambda folder, known="": (
            shared_evaluation.path_of(folder, self.steps[-1]) if self.steps else ""))

    def poll_final_state(self):
        return self.final

    def end(self):
        self.final = JobState("run", "done", step=self.steps[-1])

    def lead(self, begun=(), finished=(), is_last_only=False):
        return shared_evaluation.Lead(self.model_dir, self, 0.0, begun, finished, is_last_only)

    def member(self, index, lead):
        """Returns a member whose heartbeat the lead has seen to change."""
        member = shared_evaluation.Member(self.model_dir, index)
        for _ in range(2):
            member.finish("")
            lead.poll()
        return member


@pytest.fixture
def job(tmp_path, monkeypatch):
    return _Job(tmp_path, monkeypatch)


def _used(lead):
    """Returns the steps whose results are used now, in their order."""
    steps = []
    while (step := lead.next_finished()) is not None:
        steps.append(step)
        lead.use(step)
    return steps


def test_newest_checkpoint_goes_to_one_evaluator(job):
    lead = job.lead()
    first, second = job.member(1, lead), job.member(2, lead)
    job.steps = [10]
    lead.poll()
    assert (first.take(), second.take(), lead.own_step) == (10, None, None)
    job.steps = [10, 20]
    lead.poll()
    job.steps = [10, 20, 30]
    lead.poll()
    assert (first.take(), second.take(), lead.own_step) == (None, 20, 30)
    # All are busy; the one that is free first takes the newest.
    job.steps = [10, 20, 30, 40, 50]
    lead.poll()
    second.finish("done")
    lead.poll()
    assert second.take() == 50


def test_results_are_used_in_the_order_of_steps(job):
    lead = job.lead()
    member = job.member(1, lead)
    job.steps = [10]
    lead.poll()
    assert member.take() == 10
    job.steps = [10, 20]
    lead.poll()
    assert lead.own_step == 20
    lead.finish_own(is_gone=False)
    assert _used(lead) == []
    member.finish("done")
    lead.poll()
    assert _used(lead) == [10, 20]


def test_checkpoints_that_are_left_follow_the_last_one(job):
    lead = job.lead(begun=[10])
    member = job.member(1, lead)
    job.steps = [10, 20, 30, 40]
    job.end()
    lead.poll()
    assert (member.take(), lead.own_step) == (40, 30)
    member.finish("done")
    lead.poll()
    assert member.take() == 20 and not lead.is_complete
    lead.finish_own(is_gone=False)
    member.finish("gone")
    lead.poll()
    assert _used(lead) == [30, 40] and lead.is_complete


def test_best_checkpoint_as_the_model_leaves_out_the_others(job):
    lead = job.lead(is_last_only=True)
    job.steps = [10, 20, 30]
    job.end()
    lead.poll()
    assert lead.own_step == 30
    lead.finish_own(is_gone=False)
    lead.poll()
    assert _used(lead) == [30] and lead.is_complete and lead.own_step is None


def test_checkpoint_of_an_evaluator_that_is_gone_goes_to_another(job, intervals):
    lead = job.lead()
    first, second = job.member(1, lead), job.member(2, lead)
    job.steps = [10]
    lead.poll()
    assert first.take() == 10
    with second:
        intervals.now = dataclasses.replace(intervals.now, member_lost_secs=0.0)
        lead._intervals = intervals.now
        lead.poll()  # Nobody is alive, as far as this poll can tell.
        assert lead.own_step == 10


def test_evaluator_that_starts_again_takes_its_checkpoint_again(job):
    lead = job.lead()
    job.member(1, lead)
    job.steps = [10]
    lead.poll()
    again = shared_evaluation.Member(job.model_dir, 1)
    lead.poll()
    lead.poll()
    job.steps = [10, 20]
    lead.poll()
    assert again.take() == 10


def test_lead_that_starts_again_goes_on(job):
    lead = job.lead()
    member = job.member(1, lead)
    job.steps = [10]
    lead.poll()
    assert member.take() == 10
    lead = job.lead(begun=[5], finished=[5])
    lead.poll()
    # The member goes on with step 10, which nobody else gets.
    assert lead.own_step is None and _used(lead) == [5]
    member.finish("done")
    lead.poll()
    assert _used(lead) == [10]


def test_member_ignores_the_file_of_an_earlier_job(job):
    path = f"{job.model_dir}/evaluators/evaluator-0.json"
    shared_files.write_json(path, {"process": "old", "count": 7, "assigned": {"1": 10},
                                   "is_over": True})
    member = shared_evaluation.Member(job.model_dir, 1)
    assert member.take() is None and not member.is_over
    with job.lead() as lead:
        assert lead.own_step is None
    assert member.take() is None


def test_member_ends_when_the_lead_has_nothing_left(job):
    lead = job.lead()
    member = job.member(1, lead)
    job.steps = [10]
    job.end()
    with lead:
        jobs.wait_for(lambda: member.take() == 10, 10)
        assert not member.is_over
        member.finish("done")
        jobs.wait_for(lambda: _used(lead) == [10], 10)
        assert lead.is_complete
    member.take()
    assert member.is_over
