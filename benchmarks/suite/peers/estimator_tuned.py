"""Runs the tutorial's Estimator script with a tuned input."""

from __future__ import annotations

from benchmarks.suite.peers import estimator_script, tuned_input, work


def main() -> None:
    """Trains, evaluates and reports."""
    todo = work.from_command_line()
    estimator_script.train(todo, lambda: tuned_input.training(todo))


if __name__ == "__main__":
    main()
