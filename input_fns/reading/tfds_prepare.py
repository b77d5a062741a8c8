"""Puts a TFDS dataset on disk, only once if several processes start together.

    builder = prepared(lambda: tfds.builder("mnist", data_dir="/data"))

In a local data_dir one process prepares, holding a lock on `.NAME.lock`; the others wait and then
read the files. The kernel drops the lock of a process that dies, so the next one takes over and no
lock is ever stale. A remote data_dir (`gs://...`) has no locks: every process prepares under its
own name, and TFDS renames one of the results into place.
"""

from __future__ import annotations

import contextlib
import errno
import http.client
import io
import itertools
import os
import socket
import ssl
import sys
import time
from typing import Callable, Iterator, TextIO
import urllib.error
import urllib.parse
import urllib.request

from absl import logging
import tensorflow as tf
import tensorflow_datasets as tfds

from input_fns.reading.errors import DataNotPreparedError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

POLL_SECS = 0.2
REPORT_SECS = 10.0
PROBE_TIMEOUT_SECS = 2.0
PROBE_MAX_HOSTS = 3

_UNWRITABLE_CODES = (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.EEXIST,
                     errno.ENOSPC, errno.EDQUOT)
_UNWRITABLE_ERRORS = (tf.errors.PermissionDeniedError, tf.errors.FailedPreconditionError,
                      tf.errors.ResourceExhaustedError, tf.errors.UnauthenticatedError)


def prepared(make_builder: Callable[[], tfds.core.DatasetBuilder]) -> tfds.core.DatasetBuilder:
    """Returns a builder whose data is on disk, preparing it if it is not.

    Args:
      make_builder: Returns a new builder. Called again after preparing, because a builder reads
        its splits and sizes from disk when it is made.

    Raises:
      DataNotPreparedError: No network, or data_dir cannot be written.
    """
    builder = make_builder()
    if builder.data_path.exists():
        # Without splits, another process put the data there since the builder was made.
        return builder if builder.info.splits else make_builder()
    try:
        with _lock(builder):
            if not builder.data_path.exists():  # not prepared by another process meanwhile
                _download_and_prepare(builder)
    except (OSError, tf.errors.OpError, tfds.download.DownloadError) as error:
        # Without a lock, losing the race to rename is an OSError too.
        if not builder.data_path.exists():
            remedy = _remedy(builder, error)
            if not remedy:
                raise
            raise DataNotPreparedError(_sentence(builder, error, remedy)) from error
    return make_builder()


@contextlib.contextmanager
def _lock(builder: tfds.core.DatasetBuilder) -> Iterator[None]:
    root = os.fspath(builder.data_dir_root)
    if fcntl is None or "://" in root:
        yield
        return
    os.makedirs(root, exist_ok=True)
    path = os.path.join(root, f".{builder.name}.lock")
    with open(path, "a+", encoding="utf-8") as lock:
        _acquire(lock, f"{builder.name} in {root}")
        lock.truncate(0)
        lock.write(f"process {os.getpid()} on {socket.gethostname()}")
        lock.flush()
        yield


def _acquire(lock: TextIO, what: str) -> None:
    started = time.monotonic()
    report_at = started
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            pass
        except OSError as error:
            if error.errno not in (errno.ENOLCK, errno.ENOTSUP):
                raise
            logging.warning("prepares %s without a lock: its file system has none", what)
            return
        now = time.monotonic()
        if now >= report_at:
            lock.seek(0)
            logging.info("waits for %s, which prepares %s (%d s so far)",
                         lock.read() or "another process", what, now - started)
            report_at = now + REPORT_SECS
        time.sleep(POLL_SECS)


def _download_and_prepare(builder: tfds.core.DatasetBuilder) -> None:
    if not sys.stderr.isatty():
        tfds.disable_progress_bar()
    unreachable = _unreachable(builder)
    if unreachable:
        raise tfds.download.DownloadError(unreachable)
    logging.info("prepares %s in %s", builder.name, builder.data_dir_root)
    # The public bucket of prepared datasets is one more host that may be unreachable, with its own
    # retries.
    config = tfds.download.DownloadConfig(try_download_gcs=False)
    try:
        with contextlib.redirect_stdout(io.StringIO()):  # TFDS prints what is logged here
            builder.download_and_prepare(download_config=config)
    except AssertionError as error:
        if not builder.MANUAL_DOWNLOAD_INSTRUCTIONS:
            raise
        raise tfds.download.DownloadError(str(error)) from error


def _unreachable(builder: tfds.core.DatasetBuilder) -> str:
    """Returns why none of the dataset's hosts answers; empty if one does.

    TFDS itself reports this only after 10 retries per file: 3.5 minutes for mnist.
    """
    downloads = builder.data_dir_root / "downloads" / builder.name
    if any(".tmp." not in path.name for path in downloads.glob("*")):
        return ""  # downloaded before: the network may not be needed
    hosts: dict[str, str] = {}
    for url in builder.url_infos or ():
        if url.startswith("http"):
            hosts.setdefault(urllib.parse.urlsplit(url).netloc, url)
    problems = []
    for host, url in itertools.islice(hosts.items(), PROBE_MAX_HOSTS):
        problem = _probe(url)
        if not problem:
            return ""
        problems.append(f"{host} cannot be reached ({problem})")
    return ", ".join(problems)


def _probe(url: str) -> str:
    """Returns why `url` does not answer; empty if it does, even with an error."""
    request = urllib.request.Request(url, method="HEAD")
    try:
        # A new opener reads the proxy variables now; urlopen keeps those of its first call.
        urllib.request.build_opener().open(request, timeout=PROBE_TIMEOUT_SECS).close()
    except urllib.error.HTTPError:
        return ""
    except urllib.error.URLError as error:
        # TFDS downloads with its own certificates (certifi).
        return "" if isinstance(error.reason, ssl.SSLError) else str(error.reason)
    except (OSError, http.client.HTTPException) as error:
        return str(error) or type(error).__name__
    return ""


def _remedy(builder: tfds.core.DatasetBuilder, error: Exception) -> str:
    """Returns what a user can do about `error`; empty if the machine is not its cause."""
    code = getattr(error, "errno", None)
    if isinstance(error, _UNWRITABLE_ERRORS) or code in _UNWRITABLE_CODES:
        return "name a directory that can be written"
    if isinstance(error, tf.errors.OpError) or (code and not isinstance(error, ConnectionError)):
        return ""
    root = os.fspath(builder.data_dir_root)
    command = ("import tensorflow_datasets as tfds; "
               f"tfds.builder({_spec(builder)!r}, data_dir={root!r}).download_and_prepare()")
    return (f'on a machine with network run  python -c "{command}"  and copy '
            f"{os.path.join(root, builder.name)} here, or name a directory that holds it")


def _sentence(builder: tfds.core.DatasetBuilder, error: Exception, remedy: str) -> str:
    why = (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(".")
    return (f"Dataset {_spec(builder)!r} is not in data_dir {os.fspath(builder.data_dir_root)!r} "
            f"and cannot be prepared there: {why}; {remedy}: --param data_dir=/path")


def _spec(builder: tfds.core.DatasetBuilder) -> str:
    return "/".join(filter(None, (builder.name, builder.builder_config_name)))
