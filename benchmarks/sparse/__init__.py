"""A wide and deep model of many tables of rows, on parameter servers and in one process."""
