"""The settings of the user; one field is one flag."""
