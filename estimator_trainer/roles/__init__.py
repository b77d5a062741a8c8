"""Roles are what a process does from its first line to its last; each has a file."""
