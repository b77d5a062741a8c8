"""The base class of the service, and the start of a program."""
