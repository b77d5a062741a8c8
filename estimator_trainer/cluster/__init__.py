"""Reads TF_CONFIG: which task of which cluster this process is."""
