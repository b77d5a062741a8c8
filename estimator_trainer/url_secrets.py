"""Masks what a URL tells of secrets: user and password, keys, tokens and signatures.

    s3://ID:abc/def@bucket/x?key=abc&part=1#access_token=abc
    s3://****@bucket/x?key=****&part=1#access_token=****

A text is read once, so that a long one costs little.
"""

from __future__ import annotations

import re
from typing import Callable

MASK = "****"
# JSON of some programs writes `/` as `\/`. A quote that ends a text of Python's ends the URL.
_SLASHES = r"\\?/\\?/"
_REST = r"(?:[^\s'\"]|'(?![\s,\])}:;]|$))+"
_URL = re.compile(rf"(?P<start>:{_SLASHES}|(?:^|(?<=[\s'\"=(,])){_SLASHES})(?P<rest>{_REST})")
_NEXT_URL = re.compile(rf"([,;|][A-Za-z][\w+.-]{{0,15}}:{_SLASHES})")
_SCHEME = re.compile(r"[A-Za-z][\w+.-]{0,30}$")
_USER_AND_HOST_WITH_PORT = re.compile(
    r"(?:[^/?#:\\]*@)?(?:\[[0-9A-Fa-f:.%]+\]|[^/?#:@\[\\]*):\d{1,5}(?=[/?#\\]|$)")
_ADDRESS_IN_BRACKETS = re.compile(r"\[[0-9A-Fa-f:.%]+\](?=[/?#\\]|$)")
_END_OF_HOST = re.compile(r"[/?#\\]")
# A bucket has no port; what looks like one is a password.
_WITHOUT_PORTS = frozenset(("s3", "s3a", "s3n", "gs", "gcs", "oss", "cos"))
# Azure writes CONTAINER@ACCOUNT where others write USER:PASSWORD@HOST.
_TOKEN_ALONE = ("http", "https")
# A whole URL may be the value in another's query.
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


def masked(text: str, is_secret: Callable[[str], bool]) -> str:
    """Returns a text whose URLs, and headers of authorization, tell no secret.

    Args:
      text: Any text.
      is_secret: Function that says whether a name is that of a secret.
    """
    if "/" in text or "@" in text:
        text = _URL.sub(lambda match: match["start"] + _without_users(
            _scheme_before(match), match["rest"]), text)
    if "%40" in text:
        text = _ESCAPED.sub(lambda match: match[0] if "%3a" not in match["user"].lower() else
                            match["before"] + MASK, text)
    if "=" in text:
        text = _without_values(text, is_secret)
    return _HEADER.sub(lambda match: match["before"] + MASK, text)


def _scheme_before(match: re.Match[str]) -> str:
    found = _SCHEME.search(match.string[max(0, match.start() - 32):match.start()])
    return found[0].lower().rpartition("+")[2] if found else ""


def _without_users(scheme: str, rest: str) -> str:
    """Returns what follows `scheme://`, which may be a list of URLs."""
    first, *others = _NEXT_URL.split(rest)
    shown = _without_user(scheme, first)
    for start, each in zip(others[::2], others[1::2]):
        shown += start + _without_user(re.split(r"[:\\]", start[1:])[0].lower(), each)
    return shown


def _without_user(scheme: str, rest: str) -> str:
    """Returns what follows `scheme://` without user and password.

    The user ends at the first `:`, the password at the last `@`, for passwords may have `/` and
    `@`. A number that follows the `:` up to a `/` is a port, except where there are no ports.
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


def _without_values(text: str, is_secret: Callable[[str], bool]) -> str:
    """Returns a text without the values of the secrets in queries and fragments."""
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
