"""A release is complete: the wheel, the sdist, their page on an index, the constraints."""

from __future__ import annotations

import email
import io
import pathlib
import re
import subprocess
import sys
import tarfile
from typing import Any
import zipfile

import pytest

from benchmarks import constraints
from estimator_trainer import __version__, versions
from tests.support import distributions, jobs

pytestmark = pytest.mark.any_tensorflow
FILES = sorted(constraints.FOLDER.glob("*.txt"))
_LINE = re.compile(r"[a-z0-9-]+==[\w.+!]+(; python_version (<|>=) \"3\.1\d\""
                   r"( and python_version < \"3\.1\d\")?)?")


@pytest.fixture(name="setup", scope="module")
def _setup() -> dict[str, Any]:
    """Arguments of setuptools in setup.py, and its other names."""
    path = jobs.REPO / "setup.py"
    seen: dict[str, Any] = {"__file__": str(path)}
    import setuptools
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(setuptools, "setup", lambda **arguments: seen.update(arguments))
        exec(compile(path.read_text(), str(path), "exec"), seen)  # noqa: S102
    return seen


@pytest.fixture(name="built", scope="module")
def _built(tmp_path_factory: pytest.TempPathFactory) -> dict[str, pathlib.Path]:
    """The sdist and the wheel that is built from it, and the wheel of the checkout, `direct`."""
    folder = tmp_path_factory.mktemp("release")
    sources = distributions.copy_sources(folder / "sources")
    built = distributions.build(sources, folder / "dist")
    direct = distributions.build(sources, folder / "direct", "--wheel")["whl"]
    return {**built, "direct": direct}


def _wheel(path: pathlib.Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as wheel:
        # RECORD has the lines of the others in any order.
        return {name: wheel.read(name) for name in wheel.namelist() if not name.endswith("RECORD")}


def test_the_changelog_begins_with_this_version_and_what_is_newer():
    text = (jobs.REPO / "CHANGELOG.md").read_text()
    headings = re.findall(r"^## (\S+)", text, re.M)
    assert [each for each in headings if each != "Unreleased"][0] == __version__
    assert "Unreleased" not in headings[1:]
    assert re.search(rf"^## {re.escape(__version__)} - 20\d\d-\d\d-\d\d$", text, re.M)


def test_every_text_names_this_version():
    texts = [*jobs.REPO.glob("*.md"), *(jobs.REPO / "docs").rglob("*.md")]
    named = {(path.name, found) for path in texts for found in
             re.findall(r"estimator_trainer[- ]v?(\d+\.\d+\.\d+)", path.read_text())}
    assert {found for _, found in named} <= {__version__}, named


def test_the_page_of_an_index_names_no_target_that_is_not_there(setup):
    page = setup["long_description"]
    prose = re.sub(r"^```.*?^```", "", page, flags=re.M | re.S)
    targets = [*re.findall(r"\]\(([^)]*)\)", prose), *re.findall(r"(?:src|href)=\"([^\"]*)", prose)]
    assert not [target for target in targets if not target.startswith("https://")]
    # Apart from those, the page is README.md.
    assert page.startswith("# estimator_trainer") and page.count("\n## ") == (
        (jobs.REPO / "README.md").read_text().count("\n## "))


@pytest.mark.parametrize("text, page", [
    ("See [how a job ends](docs/job_ends.md).", "See how a job ends (docs/job_ends.md)."),
    ("See [docs/report.md](docs/report.md#serve).", "See docs/report.md."),
    ("See [above](#commands) and [TF](https://tensorflow.org).",
     "See above and [TF](https://tensorflow.org)."),
    ('A.\n\n<img src="docs/report.png"\n  alt="x" width="620">\n\nB.', "A.\n\nB."),
    ("A.\n\n![x](docs/report.png)\n\nB ![y](https://a.b/c.png)", "A.\n\nB ![y](https://a.b/c.png)"),
    ("A [![x](docs/report.png)](docs/report.md)B", "A B"),
    ("```python\nf[0](x)\n```\n[a](b.md)", "```python\nf[0](x)\n```\na (b.md)")])
def test_a_local_link_becomes_text(setup, text, page):
    assert setup["_without_local_targets"](text) == page


def test_the_page_of_an_index_is_rendered(setup):
    markdown = pytest.importorskip("readme_renderer.markdown")
    problems = io.StringIO()
    html = markdown.render(setup["long_description"], stream=problems)
    assert html and not problems.getvalue()
    assert html.count("<pre") == setup["long_description"].count("\n```") // 2


@pytest.mark.cluster
def test_the_wheel_has_all_that_the_program_reads_and_no_tests(built):
    files = _wheel(built["whl"])
    folders = [jobs.REPO / name for name in ("estimator_trainer", "model_fns", "input_fns")]
    ours = {str(path.relative_to(jobs.REPO)) for folder in folders for path in folder.rglob("*")
            if path.is_file() and not {"__pycache__", ".DS_Store"} & set(path.parts)}
    packed = {name for name in files if ".dist-info/" not in name}
    assert packed == ours
    for name in ("input_fns/digits.csv.gz", "model_fns/cnn.py", "estimator_trainer/py.typed",
                 "estimator_trainer/constraints/tensorflow-2.15.txt",
                 "estimator_trainer/reports/web/uPlot.iife.min.js"):
        assert files[name] == (jobs.REPO / name).read_bytes()
    (metadata,) = (value for name, value in files.items() if name.endswith("/METADATA"))
    assert email.message_from_bytes(metadata)["Version"] == __version__
    licenses = {name.rpartition("/")[2] for name in files if ".dist-info/" in name}
    assert {"NOTICE", "uPlot.LICENSE"} <= licenses


@pytest.mark.cluster
def test_the_sdist_makes_the_same_wheel_as_the_checkout(built):
    assert _wheel(built["whl"]) == _wheel(built["direct"])
    with tarfile.open(built["gz"]) as sdist:
        names = {name.partition("/")[2] for name in sdist.getnames()}
    assert {"setup.py", "README.md", "NOTICE", "PKG-INFO"} <= names
    assert not [name for name in names if name.startswith("tests")]


@pytest.mark.cluster
def test_an_index_would_take_both(built):
    pytest.importorskip("twine")
    done = subprocess.run([sys.executable, "-m", "twine", "check", "--strict",
                           str(built["whl"]), str(built["gz"])],
                          capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0 and done.stdout.count("PASSED") == 2, done.stdout + done.stderr


def test_both_tensorflows_have_a_constraints_file():
    native, newest = (".".join(map(str, minor)) for minor in (versions.NATIVE,
                                                              versions.NEWEST_TESTED))
    assert list(constraints.TESTED) == [native, newest]
    assert [path.stem for path in FILES] == [f"tensorflow-{native}", f"tensorflow-{newest}"]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_constraints_file_pins_what_pip_installed(path):
    lines = [line for line in path.read_text().splitlines() if not line.startswith("#")]
    assert not [line for line in lines if not _LINE.fullmatch(line)]
    pinned = {line.partition("==")[0]: line for line in lines}
    minor = path.stem.partition("-")[2]
    for name in ("tensorflow", "tf-keras"):
        assert pinned[name].startswith(f"{name}=={minor}.")
    assert pinned["tensorflow-estimator"] == f"tensorflow-estimator=={versions.ESTIMATOR}"
    assert {"numpy", "protobuf", "tensorflow-datasets", "pytest", "six"} <= pinned.keys()
    assert not [name for name in pinned if name.startswith("nvidia") or name == "pip"]


def test_a_version_that_differs_between_pythons_gets_a_marker():
    assert constraints.merge({
        "3.10": {"a": "1", "n": "2.2"}, "3.11": {"a": "1", "n": "2.4", "s": "6"},
        "3.12": {"a": "1", "n": "2.4", "s": "8"}, "3.13": {"n": "2.5", "s": "8", "z": "1"}}) == [
            "a==1", 'n==2.2; python_version < "3.11"',
            'n==2.4; python_version >= "3.11" and python_version < "3.13"',
            'n==2.5; python_version >= "3.13"',
            's==6; python_version < "3.12"', 's==8; python_version >= "3.12"', "z==1"]
