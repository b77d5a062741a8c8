"""The functions of a program of the table, as plug-ins; EQUALITY_PROGRAM names the program."""

import os

from tests.equality import table

_PROGRAM = table.PROGRAMS[os.environ["EQUALITY_PROGRAM"]]
model_fn = _PROGRAM.model_fn
train_input_fn = _PROGRAM.train_input_fn
eval_input_fn = _PROGRAM.eval_input_fn or _PROGRAM.train_input_fn
