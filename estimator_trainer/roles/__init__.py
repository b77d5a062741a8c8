"""Roles: what a process does from its first line to its last, one file a role."""
