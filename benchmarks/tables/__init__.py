"""How good the default model of a table is, beside scikit-learn's defaults on the same rows."""
