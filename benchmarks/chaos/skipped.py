"""A case that this machine cannot run."""


class Skipped(Exception):
    """A sentence names what the machine lacks."""
