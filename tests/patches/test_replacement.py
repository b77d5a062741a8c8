"""Replaced attributes come back, in whatever order two threads end, and are those of a thread."""

from __future__ import annotations

from concurrent import futures
import threading
import time
import types

from estimator_trainer.patches import replacement


def test_attributes_come_back_in_whatever_order_replacements_end():
    holder = types.ModuleType("holder")
    holder.value = "first"
    one = replacement.attributes([(holder, "value", "other")])
    two = replacement.attributes([(holder, "value", "second")])
    one.__enter__()
    two.__enter__()
    one.__exit__(None, None, None)
    assert holder.value == "second"
    two.__exit__(None, None, None)
    assert holder.value == "first"


def test_functions_of_two_threads_that_begin_at_once_are_both_called():
    class Holder(types.ModuleType):
        def __getattribute__(self, name):
            found = super().__getattribute__(name)
            if name == "name":
                time.sleep(0.05)  # The other thread reads the same value.
            return found

    holder, began = Holder("holder"), threading.Barrier(2)
    holder.name = lambda: "first"

    def called_here(name):
        with replacement.functions_of_this_thread([(holder, "name", lambda: name)]):
            began.wait(10)
            found = holder.name()
            began.wait(10)
            return found

    with futures.ThreadPoolExecutor(2) as pool:
        assert list(pool.map(called_here, ["one", "other"])) == ["one", "other"]


def test_functions_of_this_thread_are_called_by_it_alone():
    holder = types.ModuleType("holder")
    holder.name = lambda: "first"

    def called_here(name):
        below = holder.name
        places = [(holder, "name", lambda: f"{name} of {below()}")]
        with replacement.functions_of_this_thread(places):
            began.wait(10)
            found = holder.name()
            # The one that began first ends first, and the other goes on.
            if name == "other":
                ended.wait(10)
            return found, holder.name()

    began, ended = threading.Barrier(2), threading.Event()
    with futures.ThreadPoolExecutor(2) as pool:
        one, other = pool.submit(called_here, "one"), pool.submit(called_here, "other")
        assert one.result(20) == ("one of first", "one of first")
        ended.set()
        assert other.result(20) == ("other of first", "other of first")
    assert holder.name() == "first"
