"""A script sets up logging as if nothing had, and this project's lines stay."""

from __future__ import annotations

import contextlib
import logging

from estimator_trainer import logs


@contextlib.contextmanager
def _script():
    # Within a test, as pytest has handlers of its own.
    with logs.as_before():
        logs.configure("local", verbose=False)
        with logs.scripts_configure():
            yield logging.getLogger()


def test_a_script_finds_no_handler_and_adds_its_file(tmp_path, capfd):
    with _script() as root:
        assert not root.handlers and not root.hasHandlers()
        logging.info("before")
        if not root.handlers:
            root.addHandler(logging.FileHandler(tmp_path / "log"))
        logging.info("after")
        logging.basicConfig(filename=tmp_path / "never")
        root.handlers[-1].close()
        assert (tmp_path / "log").read_text() == "after\n" and not (tmp_path / "never").exists()
        assert [line.split("  ")[1] for line in capfd.readouterr().err.splitlines()] == [
            "before", "after"]


def test_a_script_configures_a_file_and_its_level(tmp_path, capfd):
    with _script() as root:
        logging.basicConfig(filename=tmp_path / "log", level=logging.WARNING, format="%(message)s")
        logging.info("little")
        logging.getLogger("tensorflow").warning("much")
        root.handlers[-1].close()
        assert (tmp_path / "log").read_text() == "much\n"
        assert "little" in capfd.readouterr().err


def test_lines_are_shown_once_without_a_file(capfd):
    with _script() as root:
        logging.basicConfig(level="DEBUG", format="%(message)s")
        logging.debug("deep")
        assert capfd.readouterr().err.count("deep") == 1 and len(root.handlers) == 0


def test_a_script_replaces_its_own_handlers(tmp_path, capfd):
    with _script() as root:
        logging.basicConfig(filename=tmp_path / "one")
        logging.basicConfig(filename=tmp_path / "two", force=True)
        logging.info("kept")
        assert (tmp_path / "one").read_text() == "" and "kept" in (tmp_path / "two").read_text()
        assert "kept" in capfd.readouterr().err
        root.handlers[-1].close()


def test_all_is_as_before_after_a_script():
    configure = logging.basicConfig
    with logs.as_before(), logs.scripts_configure():
        assert logging.basicConfig is not configure
    assert logging.basicConfig is configure and type(logging.getLogger().handlers) is list
