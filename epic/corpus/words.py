"""Words of a text, as the rankers that know words instead of word-pieces split them.

blingfire    Microsoft's BlingFire, as TK uses it: punctuation marks are words, and words are lower-cased once they are split
letters      as Duet does it: lower case, and whatever is no letter a to z, digit or blank becomes a blank
"""

import re
from collections.abc import Callable
from functools import cache

from epic.core.files import InputError

LETTERS = re.compile("[a-z0-9]+")


def tokeniser_named(name: str) -> Callable[[str], list[str]]:
    """Return the function that splits a text into words, or raise an InputError with the names there are."""
    if name not in TOKENISERS:
        raise InputError(f"there is no tokeniser of words {name!r:.40}; there are {', '.join(TOKENISERS)}")
    return TOKENISERS[name]


def _blingfire(text: str) -> list[str]:
    return _text_to_words()(text).lower().split()


def _letters(text: str) -> list[str]:
    return LETTERS.findall(text.lower())


@cache
def _text_to_words() -> Callable[[str], str]:
    """Load BlingFire's library, once it is used: a function that puts blanks between words."""
    from blingfire import text_to_words

    return text_to_words


TOKENISERS = {"blingfire": _blingfire, "letters": _letters}
