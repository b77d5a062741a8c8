"""Recognises by its first bytes a file that is no table, and says how to make a table of it.

A table or an image in place of TFRecord files is recognised too.
"""

from __future__ import annotations

import re
import shlex
import zlib

from input_fns.reading import file_system, table_file
from input_fns.reading.errors import DataFileError

_HEAD_BYTES = 4096
_SHEET = ("a spreadsheet", "save the sheet as CSV")
_TO_RECORDS = "--input_fn=tfrecord"
_KINDS = {table_file.CSV: "CSV or other text", table_file.JSON: "JSON lines",
          table_file.PARQUET: "Parquet", table_file.FEATHER: "Feather"}
_TABLES = (b"PAR1", b"ARROW1")
# Bytes that no text in UTF-8 has.
_CONTROL = re.compile(rb"[\0-\x08\x0e-\x1f]")
_IMAGE = ("an image", "--input_fn=image_folder --param train_dir=FOLDER")
# The first bytes of a file, what it is, and the words to type, with the path in place of {}.
_SIGNS = (
    (b"\xd0\xcf\x11\xe0", *_SHEET),
    (b"BZh", "compressed by bzip2", "bunzip2 -k {}"),
    (b"\xfd7zXZ\0", "compressed by xz", "unxz -k {}"),
    (b"\x28\xb5\x2f\xfd", "compressed by zstd", "zstd -d {}"),
    (b"7z\xbc\xaf", "an archive of 7-Zip", "7z x {}"),
    (b"Rar!", "an archive of RAR", "unrar x {}"),
    (b"%PDF", "a PDF document", "save its table as CSV"),
    (b"\x89PNG", *_IMAGE),
    (b"\xff\xd8\xff", *_IMAGE),
    (b"\x93NUMPY", "an array of NumPy", "python -c 'import numpy, pandas, sys; pandas.DataFrame("
     "numpy.load(sys.argv[1])).to_csv(\"new.csv\", index=False)' {}"),
    (b"\x80\x03", "a pickle", ""), (b"\x80\x04", "a pickle", ""), (b"\x80\x05", "a pickle", ""),
    (b"\x89HDF", "an HDF5 file", "python -c 'import pandas, sys; pandas.read_hdf(sys.argv[1])."
     "to_csv(\"new.csv\", index=False)' {}"),
    (b"SQLite format 3", "a database of SQLite",
     "sqlite3 -csv -header {} 'select * from TABLE' > new.csv"),
    (b"version https://git-lfs", "a pointer of Git LFS in place of the data", "git lfs pull"),
    (b"<!doctype", "a web page", ""), (b"<html", "a web page", ""),
    (b"<?xml", "an XML file", "python -c 'import pandas, sys; pandas.read_xml(sys.argv[1])."
     "to_csv(\"new.csv\", index=False)' {}"),
)
_OF_PICKLE = ("python -c 'import pandas, sys; pandas.read_pickle(sys.argv[1])"
              ".to_csv(\"new.csv\", index=False)' {}")
_OF_ARRAY = ("python -c 'import pandas, sys; pandas.read_json(sys.argv[1])"
             ".to_json(\"new.jsonl\", orient=\"records\", lines=True)' {}")


def check(path: str) -> None:
    """Raises DataFileError if a file is empty, or of a kind that holds no lines of a table."""
    head = _head(path)
    if not head.strip(b"\xef\xbb\xbf\r\n \t"):
        raise DataFileError(f"{path} is empty, perhaps because its writing or its download was "
                            "cut off; expected a line with the names of the columns, and the "
                            "records")
    what, cure = _recognised(head)
    if not what:
        return
    cure = cure.replace("{}", shlex.quote(path))
    raise DataFileError(f"{path} is {what}; expected CSV, Parquet, JSON lines or Feather. "
                        + (f"For example: {cure}" if cure else "Download the file itself, which "
                           "may need a login"))


def no_records(path: str) -> str:
    """Returns a sentence on a file of another kind than TFRecord; "" for one that may hold records.
    """
    head = _head(path)
    what, cure = _recognised(head)
    if cure == _TO_RECORDS:
        return ""
    if head and not what and (not _CONTROL.search(head) or head.startswith(_TABLES)):
        what, cure = _KINDS[table_file.kind_of(path)], "--input_fn=csv"
    example = f". For example: {cure}" * cure.startswith("--input_fn")
    return f"{path} is {what}; expected TFRecord files{example}" if what else ""


def _head(path: str) -> bytes:
    """Returns the first bytes of a file, unpacked if gzip has packed it."""
    with file_system.opened(path) as file:
        head = file.read(_HEAD_BYTES)
    try:
        return zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(head, _HEAD_BYTES)
    except zlib.error:
        return head


def _recognised(head: bytes) -> tuple[str, str]:
    """Returns what a file is, and how to make a table of it; ("", "") if it may be one."""
    start = head.lstrip(b"\xef\xbb\xbf\r\n \t")
    for sign, what, cure in _SIGNS:
        if head.startswith(sign) or start[:len(sign)].lower() == sign:
            return what, _OF_PICKLE if what == "a pickle" else cure
    if head.startswith(b"PK") and (b"[Content_Types].xml" in head or b"opendocument" in head):
        return _SHEET
    if start[:1] == b"[" and start[1:].lstrip()[:1] in (b"{", b"["):
        return "one JSON array", _OF_ARRAY
    if head[257:262] == b"ustar":
        return "an archive of tar", "tar xf {}"
    # A record begins with its length, 8 bytes, and a checksum; tf.Example with the byte 10.
    if head[4:8] == bytes(4) and head[12:13] == b"\n" and any(head[:3]):
        return "a TFRecord file", _TO_RECORDS
    return "", ""
