"""The functions of a user: found, imported, and given their params."""
