"""Masks secrets, which are recognized by the names of params and flags, as `****`.

In URLs, the user, the password, keys and signatures are masked too.
"""

import json
import re
from typing import Any, Mapping, Sequence

MASK = "****"
# Flags whose values are NAME=VALUE.
_HOLDERS = ("param", "plugin_flag")
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_PARTS = frozenset(("password", "passwd", "passphrase"))
_WORDS = frozenset(("pwd", "secret", "secrets", "credential", "credentials", "creds", "auth",
                    "oauth", "authorization", "apikey", "accesskey", "privatekey"))
_OF_A_KEY = frozenset(("access", "account", "api", "app", "auth", "encryption", "license", "master",
                       "private", "service", "signing", "ssh", "storage", "subscription"))
# Language models have tokens, too: `pad_token`, `num_tokens`.
_OF_A_TOKEN = frozenset(("access", "api", "auth", "bearer", "refresh", "session", "secret"))
_NO_SECRET_TOKEN = frozenset((
    "begin", "blank", "bos", "class", "cls", "end", "eos", "first", "go", "last", "mask", "max",
    "min", "next", "num", "oov", "pad", "padding", "per", "prefix", "sep", "sos", "special",
    "start", "stop", "suffix", "unk", "unknown"))
# The last words of names that describe a secret's place or length.
_HARMLESS_ENDS = frozenset(("column", "columns", "count", "dim", "dims", "dir", "env", "file",
                            "files", "folder", "host", "len", "length", "method", "mode", "name",
                            "names", "path", "paths", "size", "type", "units", "url"))
_FLAG = re.compile(r"(?P<before>--?(?P<name>[A-Za-z][\w.-]*)=)(?P<value>\S+)")


def is_secret(name: str) -> bool:
    """Returns whether the name of a param or a flag is a secret's."""
    words = [word.lower() for word in _WORD.findall(name)]
    if not words or words[-1] in _HARMLESS_ENDS:
        return False
    if _WORDS & set(words) or any(part in word for part in _PARTS for word in words):
        return True
    before = words[-2] if len(words) > 1 else ""
    return (any(word in ("key", "keys") and of in _OF_A_KEY for of, word in zip(words, words[1:]))
            or words[-1] == "token" and before not in _NO_SECRET_TOKEN
            or words[-1] == "tokens" and before in _OF_A_TOKEN)


def masked(name: str, value: Any) -> Any:
    """Returns the value of a param, a flag or an entry with its secrets masked, nested ones too."""
    if is_secret(name):
        is_empty = isinstance(value, (str, list, tuple, dict)) and not value
        return value if value is None or isinstance(value, bool) or is_empty else MASK
    if isinstance(value, str):
        return without_credentials(value)
    if isinstance(value, Mapping):
        return {key: masked(str(key), each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        if name in _HOLDERS:
            return type(value)(_masked_pair(str(each)) for each in value)
        shown = [masked("", each) for each in value]
        return shown if isinstance(value, list) else tuple(shown)
    return value


def masked_words(words: Sequence[str]) -> list[str]:
    """Returns a command line with its secrets masked."""
    shown: list[str] = []
    is_secret_next = is_pair_next = False
    for word in words:
        name, equals, _ = word.lstrip("-").partition("=")
        is_flag = word.startswith("-") and not equals
        if is_secret_next and not word.startswith("--"):
            shown.append(MASK)
        elif is_pair_next or not word.startswith("-"):
            shown.append(_masked_pair(word))
        else:
            dashes = word[:len(word) - len(word.lstrip("-"))]
            shown.append(dashes + _masked_pair(word[len(dashes):]))
        is_secret_next = is_flag and is_secret(name)
        is_pair_next = is_flag and name in _HOLDERS
    return shown


def masked_flags(text: str) -> str:
    """Returns a text with the values of secret flags masked."""
    return _FLAG.sub(lambda match: match["before"] + (
        MASK if is_secret(match["name"]) else match["value"]), without_credentials(text))


def secrets_of(pairs: Sequence[str]) -> list[str]:
    """Returns the names of the secrets among NAME=VALUE texts."""
    return [pair.partition("=")[0] for pair in pairs if _masked_pair(pair) != pair]


def _masked_pair(pair: str) -> str:
    name, equals, value = pair.partition("=")
    if not equals:
        # With a mistyped `=` the secret still follows.
        match = re.match(r"([A-Za-z][\w.-]*)[:\s]", pair)
        return match[0] + MASK if match and is_secret(match[1]) else _masked_json(pair)
    if name.lstrip("-") in _HOLDERS:
        return f"{name}={_masked_pair(value)}"
    if is_secret(name.strip()):
        return f"{name}={masked(name.strip(), value)}"
    # A URL with a query has a `=`, too.
    return without_credentials(f"{name}={_masked_json(value)}")


def _masked_json(text: str) -> str:
    if text.lstrip()[:1] in ("{", "["):
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            return without_credentials(text)
        if (shown := masked("", value)) != value:
            return json.dumps(shown)
    return without_credentials(text)


# Some programs write `/` as `\/` in JSON. A quote that ends a Python string ends the URL.
_SLASHES = r"\\?/\\?/"
_REST = r"(?:[^\s'\"]|'(?![\s,\])}:;]|$))+"
_URL = re.compile(rf"(?P<start>:{_SLASHES}|(?:^|(?<=[\s'\"=(,])){_SLASHES})(?P<rest>{_REST})")
_NEXT_URL = re.compile(rf"([,;|][A-Za-z][\w+.-]{{0,15}}:{_SLASHES})")
_SCHEME = re.compile(r"[A-Za-z][\w+.-]{0,30}$")
_USER_AND_HOST_WITH_PORT = re.compile(
    r"(?:[^/?#:\\]*@)?(?:\[[0-9A-Fa-f:.%]+\]|[^/?#:@\[\\]*):\d{1,5}(?=[/?#\\]|$)")
_ADDRESS_IN_BRACKETS = re.compile(r"\[[0-9A-Fa-f:.%]+\](?=[/?#\\]|$)")
_END_OF_HOST = re.compile(r"[/?#\\]")
# Schemes without ports, where a number after `:` is a password.
_WITHOUT_PORTS = frozenset(("s3", "s3a", "s3n", "gs", "gcs", "oss", "cos"))
# Azure writes CONTAINER@ACCOUNT where others write USER:PASSWORD@HOST.
_TOKEN_ALONE = ("http", "https")
# A whole URL may be a value in the query of another.
_ESCAPED = re.compile(r"(?P<before>%3A%2F%2F)(?P<user>[^&\s'\"@]{0,400})(?=%40)", re.IGNORECASE)
_NAME = re.compile(r"(?P<mark>[?&#;]|\\u0026)(?P<name>[\w.%~+-]{1,80}) ?= ?")
_VALUE = re.compile(r"(?:[^&\s'\"\\]|\\(?![un\"']))*")
# Azure's connection strings are NAME=VALUE with semicolons.
_VALUE_BEFORE_SEMICOLON = re.compile(r"[^;&\s'\"\\]*")
_PERCENT = re.compile(r"%([0-9A-Fa-f]{2})")
_KEYS = re.compile(r"(.*[_.-])?(key|sig|signature|token|jwt|credential|credentials|password|passwd"
                   r"|secret)|.*access(key)?id", re.IGNORECASE)
_HEADER = re.compile(r"(?P<before>\bauthorization\b[\"']?\s{0,2}[:=]\s{0,2}[\"']?"
                     r"(?:bearer|basic|token)\s{1,2})[^\s'\",$]+", re.IGNORECASE)


def without_credentials(text: str) -> str:
    """Returns a text with the secrets of URLs and authorization headers masked."""
    if "/" in text or "@" in text:
        text = _URL.sub(_without_users, text)
    if "%40" in text:
        text = _ESCAPED.sub(lambda match: match[0] if "%3a" not in match["user"].lower() else
                            match["before"] + MASK, text)
    if "=" in text:
        text = _without_values(text)
    return _HEADER.sub(lambda match: match["before"] + MASK, text)


def _without_users(match: re.Match[str]) -> str:
    """Returns a match of _URL, which may be a list of URLs, without users."""
    found = _SCHEME.search(match.string[max(0, match.start() - 32):match.start()])
    first, *others = _NEXT_URL.split(match["rest"])
    shown = match["start"] + _without_user(
        found[0].lower().rpartition("+")[2] if found else "", first)
    for start, each in zip(others[::2], others[1::2]):
        shown += start + _without_user(re.split(r"[:\\]", start[1:])[0].lower(), each)
    return shown


def _without_user(scheme: str, rest: str) -> str:
    """Returns the text after `scheme://` without user and password.

    The user ends at the first `:`, the password at the last `@`, because passwords may contain `/`
    and `@`. A number between `:` and `/` is a port, except in schemes without ports.
    """
    last = rest.rfind("@")
    if last < 0:
        return rest
    mark = re.search(r"[:/?#\\]", rest)
    has_port = scheme not in _WITHOUT_PORTS and _USER_AND_HOST_WITH_PORT.match(rest)
    if (mark and mark[0] == ":" and mark.start() < last and not has_port
            and not _ADDRESS_IN_BRACKETS.match(rest)):
        return MASK + rest[last:]
    end = _END_OF_HOST.search(rest)
    last = rest.rfind("@", 0, end.start() if end else len(rest))
    return MASK + rest[last:] if scheme in _TOKEN_ALONE and last > 0 else rest


def _without_values(text: str) -> str:
    """Returns a text without the values of secrets in queries and fragments."""
    parts, done = [], 0
    for match in _NAME.finditer(text):
        name = _PERCENT.sub(lambda found: chr(int(found[1], 16)), match["name"])
        if match.start() >= done and (is_secret(name) or _KEYS.fullmatch(name)):
            pattern = _VALUE_BEFORE_SEMICOLON if match["mark"] == ";" else _VALUE
            value = pattern.match(text, match.end())
            if value and value[0]:
                parts += [text[done:match.end()], MASK]
                done = value.end()
    return "".join([*parts, text[done:]])


# Control characters except tab and line break, marks that change the direction of writing, Unicode
# line separators, and halves of characters, which no stream can write.
CONTROL_CHARACTERS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e"
    "\u2066-\u2069\ud800-\udfff]")
# The beginnings of a process's last line, of a log line, and of an error.
_LIKE_OURS = re.compile(r"\n(?=role=|\d\d:\d\d:\d\d |estimator-trainer: )")
_COLOUR = re.compile(r"(\x1b\[[0-9;]{0,20}m)")


def for_terminal(text: str) -> str:
    """Returns a text for the terminal: secrets masked, control characters as `\\x1b`."""
    return printable(without_credentials(text))


def printable(text: str) -> str:
    """Returns a text with its control characters written as `\\x1b`."""
    def escaped(match: re.Match[str]) -> str:
        number = ord(match[0])
        return f"\\x{number:02x}" if number < 256 else f"\\u{number:04x}"

    return CONTROL_CHARACTERS.sub(escaped, text.replace("\r\n", "\n"))


def message_for_terminal(text: str) -> str:
    """Returns a message whose further lines cannot look like lines of this program."""
    return _LIKE_OURS.sub("\n  ", for_terminal(text))


def line_for_terminal(text: str, is_coloured: bool) -> str:
    """Returns a line of a task's output, with or without its colours.

    A progress bar writes one line many times; its last state is returned.
    """
    parts = _COLOUR.split(text.rstrip("\r\n").rpartition("\r")[2])
    colours = parts[1::2] if is_coloured else [""] * len(parts[1::2])
    shown = without_credentials("".join(
        part + colour for part, colour in zip(map(printable, parts[::2]), [*colours, ""])))
    return f"{shown}\x1b[0m" if colours and is_coloured else shown
