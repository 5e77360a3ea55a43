r"""Texts of others, shown as they are: characters that nobody sees, or that reorder a line, appear as escapes such as \u202e."""

import re

# Controls but for tab and newline; soft hyphens; marks and overrides of direction; blanks of no width; separators of lines;
# tags; halves of pairs, which no file can hold. Joiners (U+200C, U+200D) stay: Persian and many emoji are spelt with them.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e0fff]"
)


def visible(text: str) -> str:
    """Write out the characters that would not be seen, or would move others."""
    return _UNSEEN.sub(lambda found: _escape(ord(found[0])), text)


def one_line(text: str) -> str:
    """Do the same, on a single line, with single blanks."""
    return visible(" ".join(text.split()))


def _escape(number: int) -> str:
    return f"\\u{number:04x}" if number <= 0xFFFF else f"\\U{number:08x}"
