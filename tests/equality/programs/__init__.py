"""The programs of the table, by kind."""
