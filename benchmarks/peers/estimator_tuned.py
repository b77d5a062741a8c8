"""The plain Estimator script with a tuned input."""

from __future__ import annotations

import estimator_script
import tuned_input
import work


def main() -> None:
    """Trains, evaluates and reports."""
    todo = work.from_command_line()
    estimator_script.train(todo, lambda: tuned_input.training(todo))


if __name__ == "__main__":
    main()
