"""The words of a command line that are flags of the plug-ins' own modules."""

from __future__ import annotations

from typing import Sequence

from estimator_trainer import errors
from estimator_trainer import redaction


def normal(given: Sequence[str], after: Sequence[str]) -> tuple[str, ...]:
    """Returns each flag as one word without dashes: `name=value`, or `name` of a boolean.

    Args:
      given: The values of --plugin_flag, as they should be, or with dashes.
      after: The words that follow `--`, such as "--hidden=3" or "--hidden", "3".

    Raises:
      ConfigError: for a word that belongs to no flag.
    """
    words = [word.lstrip("-") for word in given]
    value_may_follow = False
    for word in after:
        if word.startswith("-") and not _is_number(word):
            words.append(word.lstrip("-"))
            value_may_follow = "=" not in word
        elif value_may_follow:
            words[-1] += f"={word}"
            value_may_follow = False
        else:
            raise errors.ConfigError(
                f"{_shown(word, words)!r} (after `--` on the command line) belongs to no flag;"
                " expected flags of the plug-in's modules there. For example: -- --hidden_units=3")
    return tuple(words)


def _shown(word: str, words: Sequence[str]) -> str:
    """Returns a word that may be the rest of the last flag's value, as it may be shown."""
    is_of_secret = bool(words) and bool(redaction.secrets_of(words[-1:]))
    return redaction.MASK if is_of_secret else redaction.masked_words([word])[0]


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True
