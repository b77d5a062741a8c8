"""How calls of a program ended."""


def error(function):
    """Returns the name of the error in which a call ends, None if it returns."""
    try:
        function()
    except Exception as raised:  # pylint: disable=broad-except
        return type(raised).__name__
    return None


def outcome(function, *args, **kwargs):
    """Returns the text of what a call returns, or the name of its error."""
    try:
        return str(function(*args, **kwargs))
    except Exception as raised:  # pylint: disable=broad-except
        return type(raised).__name__


def errors(calls):
    """Returns the names of the errors by the names of the calls; those that return are left out."""
    ended = {name: error(call) for name, call in sorted(calls.items())}
    return {name: found for name, found in ended.items() if found}
