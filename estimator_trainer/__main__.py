"""`python -m estimator_trainer` is `estimator-trainer`."""

import sys

from estimator_trainer import cli

sys.exit(cli.main())
