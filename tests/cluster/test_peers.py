"""A peer is up, silent or down; the first request to stop counts."""

from __future__ import annotations

import socket

import tensorflow as tf

from estimator_trainer.cluster import peers


def test_state_of_a_tensorflow_server_is_up():
    server = tf.distribute.Server.create_local_server()
    assert peers.state(server.target.removeprefix("grpc://")) == "up"


def test_state_of_a_closed_port_is_down():
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        assert peers.state(f"127.0.0.1:{closed.getsockname()[1]}") == "down"


def test_state_of_a_stopped_process_is_silent(monkeypatch):
    monkeypatch.setattr(peers.deadlines, "PEER_ANSWER_SECS", 0.2)
    with socket.socket() as listener:  # The kernel takes connections for it.
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        assert peers.state(f"127.0.0.1:{listener.getsockname()[1]}") == "silent"


def test_states_of_many_silent_peers_take_no_longer_than_one(monkeypatch):
    monkeypatch.setattr(peers.deadlines, "CHECK_SECS", 0.1)
    with socket.socket() as closed, socket.create_server(("127.0.0.1", 0)) as listener:
        closed.bind(("127.0.0.1", 0))
        addresses = {f"ps:{i}": f"127.0.0.1:{listener.getsockname()[1]}" for i in range(50)}
        addresses["ps:50"] = f"127.0.0.1:{closed.getsockname()[1]}"
        found = peers.states(addresses)
    assert found.pop("ps:50") == "down"
    assert found == dict.fromkeys(found, "silent") and len(found) == 50


def test_a_group_polls_one_task_while_that_one_answers(monkeypatch):
    answers = {f"host{i}:2222": "up" for i in range(100)}
    polled = []

    def state(address):
        polled.append(address)
        return answers[address]

    monkeypatch.setattr(peers, "state", state)
    group = peers.Group(answers)
    for _ in range(10):
        assert group.answers()
    assert polled == ["host0:2222"] * 10
    polled.clear()
    for i in range(99):
        answers[f"host{i}:2222"] = "down"
    answers["host99:2222"] = "silent"
    assert group.answers() and len(polled) == 100
    polled.clear()
    assert group.answers() and polled == ["host99:2222"]
    answers["host99:2222"] = "down"
    assert not group.answers()


def test_a_line_about_many_tasks_names_the_first():
    assert peers.named(["ps:0", "ps:1"]) == "ps:0, ps:1"
    names = [f"worker:{i}" for i in range(1000)]
    assert peers.named(names) == "worker:0, worker:1, worker:2, worker:3, worker:4 and 995 more"
