"""Graphics cards: what each could compute at most, and what is reached, as assumed or as measured here.

Peaks are from public pages of specifications, not the vendor's own; those of GTX 1080 Ti, RTX 2080 Ti, V100 and L4, and the
tensor cores of A10 and RTX 3090, were not looked up. `epic check-card` replaces them by what it measures.

Assumed, where `epic check-card` has measured nothing: every card reaches the share of its peak that the authors' reached.
Theirs wrote the vectors of MS MARCO in 14 hours with batches of eight passages (the paper), and trained in 2.5 hours, triple
by triple (their README). Larger batches should do better, so these are rather too many hours than too few.
"""

import os
import re
from datetime import date
from pathlib import Path
from typing import NamedTuple

from epic.core.files import InputError, read_json, write_json
from epic.core.machine import cards
from epic.corpus.msmarco import PASSAGES, VOCABULARY
from epic.planning import flop

BERT_BASE, MINILM = flop.Shape(12, 768, 3072, VOCABULARY), flop.Shape(6, 384, 1536, VOCABULARY)
BERT_LARGE = flop.Shape(24, 1024, 4096, VOCABULARY)
CHOSEN = "EPIC_CARD"


class Card(NamedTuple):
    """A card's memory and its peaks in TFLOP/s, without sparsity; float16 is added up in float32. None: it has no such cores."""

    name: str
    memory_gb: int
    float32: float
    tf32: float | None
    float16: float | None

    def peak(self, precision: str) -> float:
        """Return operations a second at most; what a card has no cores for counts as float32. bfloat16 came with tf32."""
        known = {"tf32": self.tf32, "float16": self.float16, "bfloat16": self.tf32 and self.float16}
        return 1e12 * (known.get(precision) or self.float32)


KNOWN = [  # from the vendor's data sheets and white papers; of several kinds of one name the slowest
    Card("GTX 1080 Ti", 11, 11.3, None, None),
    Card("RTX 2080 Ti", 11, 13.4, None, 53.8),
    Card("RTX 3090", 24, 35.6, 35.6, 71.0),
    Card("RTX 4090", 24, 82.6, 82.6, 165.2),
    Card("T4", 16, 8.1, None, 65.0),
    Card("V100", 16, 14.0, None, 112.0),
    Card("A10", 24, 31.2, 62.5, 125.0),
    Card("A40", 48, 37.4, 74.8, 149.7),
    Card("A100", 40, 19.5, 156.0, 312.0),
    Card("L4", 24, 30.3, 60.0, 121.0),
    Card("L40S", 48, 91.6, 183.0, 362.0),
    Card("H100 PCIe", 80, 51.0, 378.0, 756.0),
    Card("H100", 80, 67.0, 494.0, 989.0),
]
PAPERS = KNOWN[0]

ITERATIONS, TRIPLES, VALIDATED = 63, 512, 200 * 20  # of the authors' training: each iteration's triples, and passages validated
_THEIRS = flop.triple_of_the_authors(BERT_BASE) * TRIPLES + flop.passage(BERT_BASE) * VALIDATED
SHARE_ENCODING = flop.passage(BERT_BASE) * PASSAGES / (14 * 3600) / PAPERS.peak("float32")  # 0.28
SHARE_TRAINING = _THEIRS * ITERATIONS / (2.5 * 3600) / PAPERS.peak("float32")  # 0.08
QUERY = 0.018  # seconds a query, one at a time: the authors' README; a card waits, whichever it is


class Speed(NamedTuple):
    """What a card reaches: by its peak, or as measured, by precision."""

    card: Card
    measured: dict[str, dict[str, float]] = {}  # noqa: RUF012 - never changed
    said: str = "on a GeForce GTX 1080 Ti (no card was found here)"

    def encoding(self, precision: str) -> float:
        """Return operations a second of passages that are encoded."""
        found = self.measured.get(precision)
        return found["encode_flops"] if found else SHARE_ENCODING * self.card.peak(precision)

    def training(self, precision: str) -> float:
        """Return operations a second of training, validation included."""
        found = self.measured.get(precision)
        return found["train_flops"] if found else SHARE_TRAINING * self.card.peak(precision)

    def query(self, precision: str) -> float:
        """Return the seconds of a query's vector."""
        found = self.measured.get(precision)
        return 1 / found["queries"] if found else QUERY


NO_CARD = Speed(PAPERS)


def card_named(name: str) -> Card | None:
    """Find a card by a part of its name, as A100 for NVIDIA A100-SXM4-40GB; an RTX 3090 Ti is no RTX 3090."""
    for card in sorted(KNOWN, key=lambda card: -len(card.name)):
        if re.search(rf"(?<![\w]){re.escape(card.name)}(?! ?(Ti|D)\b)(?![\w])", name, re.IGNORECASE):
            return card
    return None


def speed_here() -> Speed:
    """Return the speed of the card that $EPIC_CARD names, of the first one here, or of the paper's if there is none."""
    wanted, found = os.environ.get(CHOSEN, "").strip(), cards()
    if not wanted and not found:
        return NO_CARD
    rates = measured_rates()
    name = wanted or next((card.name for card in found if card.name in rates), found[0].name)
    card = card_named(name)
    if measured := rates.get(name):
        return Speed(card or PAPERS, measured["precisions"], f"as measured on {name} ({measured['on']})")
    if wanted and card is None:
        there = ", ".join(card.name for card in KNOWN)
        raise InputError(f"{CHOSEN}={wanted}: no such card is known, and none was measured here; there are {there}")
    if card is None:
        return Speed(PAPERS, said=f"on a GeForce GTX 1080 Ti ({name} is not known; `make paper-check` measures it)")
    return Speed(card, said=f"on a card like {card.name}, by its peak (`make paper-check` measures it)")


def rates_file() -> Path:
    """Return the file of measured rates: this user's, so that neither another checkout nor `make clean` loses them."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "epic", "cards.json")


def measured_rates() -> dict:
    """Return what was measured, by the full name of a card."""
    path = rates_file()
    return read_json(path) if path.exists() else {}


def keep_rates(name: str, precisions: dict[str, dict[str, float]]) -> Path:
    """Write what was measured of a card beside what is known of others."""
    path = rates_file()
    write_json(path, measured_rates() | {name: {"on": date.today().isoformat(), "precisions": precisions}})
    return path
