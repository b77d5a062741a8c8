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
