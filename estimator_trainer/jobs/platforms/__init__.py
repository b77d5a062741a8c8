"""Each module of the platforms writes a job in the words of one scheduler."""
