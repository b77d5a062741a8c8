"""CSV files of numbered rows, for the tests of the input plug-in `csv`."""

from __future__ import annotations

import gzip
import pathlib
from typing import Any

import tensorflow as tf

from input_fns.reading import bad_line, table, table_blocks, text_records
from tests.support import reading

HEADER = "row,name,price,label\n"
ROWS = 23


def line(number: int) -> str:
    """Returns the line of a row."""
    return f"{number},\"n, {number}\",{number}.5,{number % 3}\n"


def write_files(folder: pathlib.Path, files: int, rows: int = ROWS) -> str:
    """Writes numbered rows to files of unequal sizes, in order; returns their pattern."""
    for i, part in enumerate(reading.parts_of(rows, files)):
        (folder / f"part-{i}.csv").write_text(HEADER + "".join(map(line, part)))
    return str(folder / "part-*")


def write_data(params: dict[str, Any], folder: pathlib.Path, text: str,
               name: str = "rows.csv") -> pathlib.Path:
    """Writes one file, gzipped if its name says so, and makes it the data of the params."""
    path = folder / name
    content = text.encode()
    path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    params.update(train_files=str(path), eval_files=str(path))
    return path


def line_problem(text: str, columns: table.Table, params: dict[str, Any]) -> str:
    """Returns the first problem of a line, as the reader finds it; "" if there is none."""
    problem = table_blocks.split_problem(text, columns.width, columns.delimiter)
    if problem:
        return problem
    fields = text_records.split(text, columns.delimiter)
    return bad_line.fields_problem([fields[i] for i in columns.positions], columns, params)[0]


def rows_of(dataset: tf.data.Dataset) -> list[int]:
    """Returns the numbers of the rows that a dataset yields."""
    batches = (batch[0] if isinstance(batch, tuple) else batch for batch in dataset)
    return [int(number) for features in batches for number in features["row"].numpy()]
