"""Tables in CSV, Parquet, JSON lines and Feather files: another name of the plug-in `csv`.

All params are those of `input_fns/csv.py`.
"""

from __future__ import annotations

from input_fns import csv
from input_fns.csv import data_params, data_problem, in_memory, input_fn, rows_to_predict

DEFAULT_PARAMS = {**csv.DEFAULT_PARAMS}
GLOBAL_BATCH_PARAM = "batch_size"
TRAINS_UNTIL = "no_improvement"
STARTS_OVER = True

__all__ = ["DEFAULT_PARAMS", "GLOBAL_BATCH_PARAM", "STARTS_OVER", "TRAINS_UNTIL", "data_params",
           "data_problem", "in_memory", "input_fn", "rows_to_predict"]
