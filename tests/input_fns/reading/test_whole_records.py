"""TFRecord files that are cut off or changed anywhere are refused, or read right."""

from __future__ import annotations

import hypothesis
from hypothesis import strategies
import numpy as np
import pytest
import tensorflow as tf

from input_fns import tfrecord
from input_fns.reading.errors import DataFileError
from tests.support import example_files, rereading

pytestmark = pytest.mark.any_tensorflow
ERRORS = (DataFileError, tf.errors.OpError, UnicodeDecodeError)
ROWS = 3
default = hypothesis.settings(derandomize=True, deadline=None, database=None, max_examples=10)
wide = hypothesis.settings(default, max_examples=500, suppress_health_check=list(
    hypothesis.HealthCheck))


class _Records:
    """A TFRecord file that is written and read again and again."""

    def __init__(self, path, compression: str):
        example_files.write(path, map(example_files.row, range(ROWS)), compression)
        self.path, self.content = path, path.read_bytes()
        self.params = {**tfrecord.DEFAULT_PARAMS, "train_files": str(path),
                       "eval_files": str(path), "image_shape": example_files.SHAPE, "key": "key",
                       "num_classes": 10, "compression": compression}
        self._reader = rereading.FileReader(path, lambda: tfrecord.input_fn("eval", self.params))
        self.whole = self.read(self.content)

    def read(self, content: bytes) -> list:
        """Returns what the evaluation of a file reads.

        Raises:
          OpError, DataFileError: as it does where it cannot.
        """
        self.path.write_bytes(content)
        tfrecord.whole_records._check_once.cache_clear()
        tfrecord.whole_records.check([str(self.path)], self.params["compression"])
        return self._reader.read(content)

    def judge(self, content: bytes) -> None:
        """Asserts that a file is read as the whole one was, or refused."""
        try:
            tf.nest.map_structure(np.testing.assert_array_equal, self.read(content), self.whole)
        except ERRORS:
            pass

    def ends(self, cuts) -> None:
        """Asserts that each file that is cut off is refused, but for those with all records."""
        for end in cuts:
            self.judge(self.content[:end])


@pytest.fixture(scope="module", name="records", params=["", "GZIP", "ZLIB"])
def fixture_records(request, tmp_path_factory):
    return _Records(tmp_path_factory.mktemp("fuzzed") / "records", request.param)


def test_check_refuses_a_file_that_is_cut_off(records):
    record = len(records.content) // ROWS
    records.ends([1, 5, 11, 12, 13, record + 1, record + 11, record + 12, 2 * record - 4, *range(
        len(records.content) - 30, len(records.content), 3)])


@pytest.mark.parametrize("more", range(1, 12))
def test_check_names_a_file_that_ends_in_the_head_of_a_record(tmp_path, more):
    path = tmp_path / "records"
    example_files.write(path, [example_files.row(1)])
    whole = path.read_bytes()
    path.write_bytes(whole + whole[:more])
    params = {**tfrecord.DEFAULT_PARAMS, "train_files": str(path), "eval_files": str(path)}
    with pytest.raises(DataFileError, match="is truncated or damaged after record 1: "):
        tfrecord.input_fn("eval", params)
    assert "is truncated or damaged after record 1: " in tfrecord.data_problem(params)


def test_check_takes_records_in_several_gzip_streams(tmp_path):
    parts = []
    for number in range(2):
        example_files.write(tmp_path / "part", [example_files.row(number)], "GZIP")
        parts.append((tmp_path / "part").read_bytes())
    for content, is_whole in ((b"".join(parts), True), (b"".join(parts)[:-9], False)):
        (tmp_path / "all").write_bytes(content)
        assert (tfrecord.whole_records._compressed_problem(str(tmp_path / "all"), "GZIP") == ""
                ) is is_whole


def _judge_changed(records, place, change):
    content = bytearray(records.content)
    content[place % len(content)] ^= change
    records.judge(bytes(content))


@default
@hypothesis.given(strategies.integers(0, 10_000), strategies.integers(1, 255))
def test_check_finds_a_changed_byte_by_its_checksum(records, place, change):
    _judge_changed(records, place, change)


@default
@hypothesis.given(strategies.dictionaries(strategies.sampled_from(["label", "image_raw", "key"]),
                                          strategies.binary(max_size=7) | strategies.floats(
    width=32) | strategies.lists(strategies.integers(-(1 << 63), (1 << 63) - 1), max_size=2)))
def test_check_of_an_example_of_other_features(records, features):
    path = records.path.with_suffix(".one")
    stored = example_files.example(**features)
    example_files.write(path, [stored], records.params["compression"])
    is_right = (isinstance(features.get("label"), list) and len(features["label"]) == 1
                and 0 <= features["label"][0] < 10 and len(features.get("image_raw", b"")) == 6
                and isinstance(features["image_raw"], bytes)
                and isinstance(features.get("key"), bytes)) if features else False
    try:
        [(_, label)] = records.read(path.read_bytes())
        assert is_right and label.tolist() == features["label"]
    except ERRORS:
        assert not is_right


@pytest.mark.soak
def test_check_of_a_file_cut_off_at_each_byte(records):
    # Nothing tells a file that ends with a record from a whole one; an empty file has no record.
    is_plain, record = not records.params["compression"], len(records.content) // ROWS
    records.ends(end for end in range(1, len(records.content))
                 if not is_plain or end % record)


@pytest.mark.soak
@wide
@hypothesis.given(strategies.integers(0, 10_000), strategies.integers(1, 255))
def test_check_of_very_many_changed_bytes(records, place, change):
    _judge_changed(records, place, change)
