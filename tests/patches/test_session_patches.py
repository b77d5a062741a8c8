"""Sessions and synchronous optimizers, patched."""

from __future__ import annotations

import inspect

import tensorflow as tf

from estimator_trainer.patches import session_patches


def test_polling_every_second_replaces_30_seconds_within_its_context():
    manager = tf.compat.v1.train.SessionManager
    with session_patches.polling_every_second(), session_patches.polling_every_second():
        assert manager()._recovery_wait_secs == session_patches.POLL_SECS
    assert manager()._recovery_wait_secs == 30


def test_polling_every_second_is_no_public_setting():
    for public in (tf.estimator.RunConfig, tf.compat.v1.train.Scaffold,
                   tf.compat.v1.train.MonitoredTrainingSession):
        assert "recovery_wait_secs" not in inspect.signature(public).parameters, public


def test_polling_every_second_reaches_monitored_sessions(monkeypatch):
    seen, manager = [], tf.compat.v1.train.SessionManager
    prepare = manager.prepare_session
    monkeypatch.setattr(manager, "prepare_session", lambda self, *args, **kwargs: (
        seen.append(self._recovery_wait_secs), prepare(self, *args, **kwargs))[1])
    with tf.Graph().as_default(), session_patches.polling_every_second():
        tf.compat.v1.train.create_global_step()
        with tf.compat.v1.train.MonitoredTrainingSession():
            pass
    assert seen == [session_patches.POLL_SECS]


def test_synchronizing_with_gives_an_optimizer_another_hook():
    optimizer = tf.compat.v1.train.SyncReplicasOptimizer(
        tf.compat.v1.train.GradientDescentOptimizer(0.1), 2)
    own = type(optimizer).make_session_run_hook
    assert list(inspect.signature(own).parameters) == ["self", "is_chief", "num_tokens"]
    with session_patches.synchronizing_with(lambda *args: args):
        assert optimizer.make_session_run_hook(True) == (optimizer, True, -1)
        assert optimizer.make_session_run_hook(False, num_tokens=3) == (optimizer, False, 3)
    assert type(optimizer).make_session_run_hook is own


def test_rewriter_on_and_off_have_no_public_name():
    from tensorflow.core.protobuf import rewriter_config_pb2

    toggle = rewriter_config_pb2.RewriterConfig
    assert (toggle.ON, toggle.OFF) == (session_patches.REWRITER_ON, session_patches.REWRITER_OFF)
    assert not hasattr(tf.compat.v1, "RewriterConfig")
    options = tf.compat.v1.ConfigProto().graph_options.rewrite_options
    for name in ("auto_mixed_precision", "auto_mixed_precision_onednn_bfloat16", "remapping"):
        assert hasattr(options, name)
