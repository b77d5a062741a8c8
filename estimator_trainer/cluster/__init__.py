"""TF_CONFIG tells which task of which cluster this process is; this package reads it."""
