"""The Stop of a process holds the request to end it, if there is one, and why."""

from __future__ import annotations

import dataclasses
import threading
import time
from typing import Any
import weakref

from estimator_trainer import errors
from estimator_trainer.result import Status


@dataclasses.dataclass(frozen=True)
class Request:
    """A request to end training.

    Attributes:
      status: How the job is to end: "done", "stopped" (to be continued), "failed" or "lost"; or
        "stopping", where the chief knows how and is going to say it.
      reason: "early_stopping", "SIGTERM", or what failed.
      by: The task that asks.
    """

    status: Status
    reason: str
    by: str

    def __str__(self) -> str:
        """Returns who asks, and why; a reason that begins with the task says who."""
        return self.reason if self.reason.startswith(f"{self.by} ") else f"{self.by}: {self.reason}"


# Each graph of training has one; a hook of the user's has no other way to it.
_STOPS: weakref.WeakKeyDictionary[Any, Stop] = weakref.WeakKeyDictionary()


def of(graph: Any) -> Stop:
    """Returns the Stop that ends the training of `graph`."""
    return _STOPS[graph]


class Stop:
    """Holds the first request to end this process; safe to use from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._event = threading.Event()
        self._request: Request | None = None

    @property
    def request(self) -> Request | None:
        """The first request, or None."""
        return self._request

    @property
    def is_to_be_continued(self) -> bool:
        """Whether this process was asked to end, and is to be started again."""
        return self._request is not None and self._request.status in ("stopped", "failed", "lost")

    @property
    def is_done(self) -> bool:
        """Whether training that ends now is complete, and is not to be continued."""
        return self._request is None or self._request.status == "done"

    def ends(self, graph: Any) -> None:
        """Makes this the Stop of `graph`."""
        _STOPS[graph] = self

    def ask(self, status: Status, reason: str, by: str) -> None:
        """Asks this process to end at the next step boundary; later requests change nothing."""
        with self._lock:
            if self._request is None:
                self._request = Request(status, reason, by)
                self._event.set()

    def wait(self, secs: float) -> bool:
        """Waits for `secs`, or until there is a request; returns whether there is one."""
        return self._event.wait(secs)

    def sleep(self, secs: float) -> None:
        """Sleeps for `secs`; the first request, if it comes meanwhile, ends the sleep."""
        if self._request is None:
            self._event.wait(secs)
        else:
            time.sleep(secs)

    def check_failure(self) -> None:
        """Raises Interrupted if the job has failed, since its result must not be saved."""
        if self._request is not None and self._request.status in ("failed", "lost"):
            self.check()

    def check(self) -> None:
        """Raises Interrupted if the job is to end now, before it is done."""
        request = self._request
        if request is not None and request.status not in ("done", "stopping"):
            raise errors.Interrupted(request.status, request.reason, request.by)
