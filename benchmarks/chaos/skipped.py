"""A case that this machine cannot run."""


class Skipped(Exception):
    """A sentence says what the machine lacks."""
