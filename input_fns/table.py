"""Tables in CSV, Parquet, JSON lines and Feather files: another name of the plug-in `csv`.

All params are those of `input_fns/csv.py`.
"""

from __future__ import annotations

from input_fns import csv
from input_fns.csv import (compared_columns, DATA, data_params, data_problem, features_of_lines,
                           FIRST_PARAMS, GLOBAL_BATCH_PARAM, in_memory, input_fn, INSPECTION,
                           rows_to_predict, STARTS_OVER, TRAINS_UNTIL)

DEFAULT_PARAMS = {**csv.DEFAULT_PARAMS}

__all__ = ["DATA", "DEFAULT_PARAMS", "FIRST_PARAMS", "GLOBAL_BATCH_PARAM", "INSPECTION",
           "STARTS_OVER", "TRAINS_UNTIL", "compared_columns", "data_params", "data_problem",
           "features_of_lines", "in_memory", "input_fn", "rows_to_predict"]
