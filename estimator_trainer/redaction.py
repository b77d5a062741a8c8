"""A secret is known by its name, as of a param or a flag, and is shown and recorded as `****`.

A URL tells by itself: user and password, keys and signatures in it are masked too.
"""

from __future__ import annotations

import json
import re
from typing import Any, Mapping, Sequence

from estimator_trainer import url_secrets

MASK = url_secrets.MASK
# An absl flag of each of these names has NAME=VALUE as its value.
_HOLDERS = ("param", "plugin_flag")
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_PARTS = frozenset(("password", "passwd", "passphrase"))
_WORDS = frozenset((
    "pwd", "secret", "secrets", "credential", "credentials", "creds", "auth", "oauth",
    "authorization", "apikey", "accesskey", "privatekey"))
_OF_A_KEY = frozenset((
    "access", "account", "api", "app", "auth", "encryption", "license", "master", "private",
    "service", "signing", "ssh", "storage", "subscription"))
# A model of language has tokens, too: `pad_token`, `num_tokens`.
_OF_A_TOKEN = frozenset(("access", "api", "auth", "bearer", "refresh", "session", "secret"))
_NO_SECRET_TOKEN = frozenset((
    "begin", "blank", "bos", "class", "cls", "end", "eos", "first", "go", "last", "mask", "max",
    "min", "next", "num", "oov", "pad", "padding", "per", "prefix", "sep", "sos", "special",
    "start", "stop", "suffix", "unk", "unknown"))
# What has such a name tells where a secret lies, or how long it is.
_HARMLESS_ENDS = frozenset((
    "column", "columns", "count", "dim", "dims", "dir", "env", "file", "files", "folder", "host",
    "len", "length", "method", "mode", "name", "names", "path", "paths", "size", "type", "units",
    "url"))
_FLAG = re.compile(r"(?P<before>--?(?P<name>[A-Za-z][\w.-]*)=)(?P<value>\S+)")


def is_secret(name: str) -> bool:
    """Returns whether the name of a param or a flag says that its value is a secret."""
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
    """Returns a value as it may be shown and recorded.

    Args:
      name: The name of the param, the flag or the entry that has the value.
      value: Any value; entries of dicts and lists are looked at, too.
    """
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
        return [masked("", each) for each in value] if isinstance(value, list) else tuple(
            masked("", each) for each in value)
    return value


def masked_words(words: Sequence[str]) -> list[str]:
    """Returns a command line as it may be shown and recorded."""
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
    """Returns a text in which the values of flags named like a secret are masked."""
    return _FLAG.sub(lambda match: match["before"] + (
        MASK if is_secret(match["name"]) else match["value"]), without_credentials(text))


def without_credentials(text: str) -> str:
    """Returns a text whose URLs have neither user nor password, nor keys, tokens, signatures."""
    return url_secrets.masked(text, is_secret)


def secrets_of(pairs: Sequence[str]) -> list[str]:
    """Returns the names of the secrets among NAME=VALUE texts."""
    return [pair.partition("=")[0] for pair in pairs if _masked_pair(pair) != pair]


def _masked_pair(pair: str) -> str:
    """Returns NAME=VALUE, or a word that is no pair, as it may be shown."""
    name, equals, value = pair.partition("=")
    if not equals:
        # Whoever mistypes `=` has written the secret all the same.
        match = re.match(r"([A-Za-z][\w.-]*)[:\s]", pair)
        return match[0] + MASK if match and is_secret(match[1]) else _masked_json(pair)
    if name.lstrip("-") in _HOLDERS:
        return f"{name}={_masked_pair(value)}"
    if is_secret(name.strip()):
        return f"{name}={masked(name.strip(), value)}"
    # A URL with a query has a `=`, too.
    return without_credentials(f"{name}={_masked_json(value)}")


def _masked_json(text: str) -> str:
    """Returns a text, whose secret entries are masked if it is JSON."""
    if text.lstrip()[:1] in ("{", "["):
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            return without_credentials(text)
        if (shown := masked("", value)) != value:
            return json.dumps(shown)
    return without_credentials(text)
