"""The name of a managed training service, for programs that import its base class."""
