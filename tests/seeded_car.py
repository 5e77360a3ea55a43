"""A tiny home of ir_datasets in the formats of TREC CAR 2017 (version 1.5), so that its real loading code runs offline.

As in `tests.seeded`, the archives stand at the places of the published ones. Paragraphs and outlines are CBOR as the
collection's own tools write it: no header in this version, ids as bytes, lists without a length unless they are empty.
"""

import hashlib
import io
import lzma
import struct
import tarfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

DATASET = "car/v1.5"
TEST, MANUAL, VALIDATION, TRAIN = (f"{DATASET}/{name}" for name in ("trec-y1/auto", "trec-y1/manual", "test200", "train/fold0"))
PAGES = "train/train.fold{}.cbor"  # of a fold: the pages themselves, and with these endings its queries and judgments
OUTLINES, QRELS = ".outlines", ".hierarchical.qrels"


class Link(NamedTuple):
    """A part of a paragraph that leads to another page."""

    anchor: str
    page: str


class Section(NamedTuple):
    """A heading, its id, which paragraphs are below it by position, and its own sections."""

    heading: str
    id: str
    relevant: tuple[int, ...] = ()
    children: tuple["Section", ...] = ()


class Page(NamedTuple):
    """A page; its sections are queries."""

    name: str
    id: str
    sections: tuple[Section, ...] = ()


PARAGRAPHS = (
    ("An aérodrome has runways for ", Link("aeroplanes", "Airplane"), " and a tower."),
    ("The tower of the aérodrome was built of brick.",),
    (),  # a paragraph of which nothing is left
    ("Bees make honey", "\n", "from nectar\tof flowers."),
    ("Honey keeps for years.",),
    (" \n",),  # nothing but blanks
    (Link("Beeswax", "Beeswax"), " is used for candles & <b>polish</b>."),
    ('A heading may say "quoted", 50% or a|b.',),
)
AERODROME = Page(
    "Aérodrome X",
    "A%C3%A9rodrome%20X",
    (
        Section("Heading one", "Heading%20one", (0,), (Section("Sub/head", "Sub/head", (1,)),)),
        Section('It\'s "50%" <b> & a|b', "It's%20%2250%25%22%20%3Cb%3E%20&%20a%7Cb", (7,)),
    ),
)
EMPTY = Page("Page without headings", "Page%20without%20headings")
BEES = Page(
    "Bee", "Bee", (Section("Honey", "Honey", (3, 4)), Section("Wax (product), ''etc.''", "Wax%20(product),%20''etc.''", (6,)))
)
TWICE = Page("Honey", "Honey", (Section("Uses", "Uses", (4,)), Section("Bees", "Bees", (3,)), Section("Uses", "Uses", (4, 6))))


def seed_car(
    home: Path,
    paragraphs: Sequence[tuple] = PARAGRAPHS,
    test: Sequence[Page] = (AERODROME, EMPTY),
    validation: Sequence[Page] = (BEES,),
    folds: Sequence[Sequence[Page]] = ((BEES, TWICE), (AERODROME,)),
) -> list[str]:
    """Write the home; returns the ids of the paragraphs."""
    folder, ids = Path(home) / "car", [paragraph_id(parts) for parts in paragraphs]
    corpus = b"".join(paragraph(doc_id, parts) for doc_id, parts in zip(ids, paragraphs, strict=True))
    write_tar(folder / "docs.tar.xz", {"paragraphcorpus/README": b"v1.5", "paragraphcorpus/paragraphcorpus.cbor": corpus})
    name = "benchmarkY1test.public/test.benchmarkY1test.cbor.outlines"
    write_tar(folder / "trec-y1" / "qrels.tar.xz", {name: outlines(test)})  # of the queries, whatever it is called
    name = "TREC_CAR_2017_qrels/{}.benchmarkY1test.cbor.hierarchical.qrels"
    judged = {"automatic": judgments(test, ids), "manual": graded(test, ids)}
    write_tar(folder / "trec-y1" / "qrels.tar.gz", {name.format(kind): text.encode() for kind, text in judged.items()})
    train = {"test200/train.test200.cbor": b"not read"} | _of_pages("test200/train.test200.cbor", validation, ids)
    write_tar(folder / "test200.tar.xz", train)
    parts = {}
    for number, pages in enumerate(folds):
        parts |= {PAGES.format(number): b"not read" * 100} | _of_pages(PAGES.format(number), pages, ids)
    write_tar(folder / "train.tar.xz", parts)
    return ids


def _of_pages(stem: str, pages: Iterable[Page], ids: list[str]) -> dict[str, bytes]:
    return {stem + OUTLINES: outlines(pages), stem + QRELS: judgments(pages, ids).encode()}


def paragraph_id(parts: tuple) -> str:
    """40 hexadecimal digits, as in the collection."""
    return hashlib.sha1(repr(parts).encode()).hexdigest()


def text_of(parts: tuple) -> str:
    """The text of a paragraph: links count with their anchors."""
    return "".join(part.anchor if isinstance(part, Link) else part for part in parts)


def queries_of(pages: Iterable[Page]) -> dict[str, str]:
    """Query id -> text, in the order of the outlines."""
    return {query_id: text for page in pages for query_id, text, _ in _sections(page)}


def judgments(pages: Iterable[Page], ids: Sequence[str]) -> str:
    """The automatic judgments: a paragraph is relevant to the section that it stood in."""
    lines = (
        f"{query_id} 0 {ids[place]} 1\n" for page in pages for query_id, _, relevant in _sections(page) for place in relevant
    )
    return "".join(lines)


def graded(pages: Iterable[Page], ids: Sequence[str]) -> str:
    """The manual judgments: grades from -2 to 3, of more paragraphs."""
    found = []
    for page in pages:
        for query_id, _, relevant in _sections(page):
            grades = {place: 3 for place in relevant} | {place: place % 4 - 2 for place in range(3) if place not in relevant}
            found += [f"{query_id} 0 {ids[place]} {grade}\n" for place, grade in grades.items()]
    return "".join(found)


def _sections(page: Page):
    """Yield (query id, text, relevant) of all sections, each before those inside it."""

    def below(path: tuple[Section, ...], sections: tuple[Section, ...]):
        for section in sections:
            here = (*path, section)
            query_id = "/".join([page.id, *(one.id for one in here)])
            yield query_id, " ".join([page.name, *(one.heading for one in here)]), section.relevant
            yield from below(here, section.children)

    yield from below((), page.sections)


def outlines(pages: Iterable[Page]) -> bytes:
    """Pages with nothing but their headings, one behind the other."""
    return b"".join(cbor([0, page.name, page.id.encode(), [_outline(section) for section in page.sections]]) for page in pages)


def _outline(section: Section) -> list:
    return [0, section.heading, section.id.encode(), [_outline(child) for child in section.children]]


def paragraph(doc_id: str, parts: tuple) -> bytes:
    """A paragraph of texts and links."""
    bodies = [[1, [0, part.page, [], part.page.encode(), part.anchor]] if isinstance(part, Link) else [0, part] for part in parts]
    return cbor([0, doc_id.encode(), bodies])


RECORDS = ("paragraph", "page", "section", "body", "link")


def cbor(value) -> bytes:
    """Encode numbers, bytes, texts and lists. A list that begins with a number is a record, of a known length."""
    if isinstance(value, int):
        return _head(0, value)
    if isinstance(value, bytes | str):
        data = value.encode() if isinstance(value, str) else value
        return _head(3 if isinstance(value, str) else 2, len(data)) + data
    inside = b"".join(map(cbor, value))
    if not value or isinstance(value[0], int):
        return _head(4, len(value)) + inside
    return b"\x9f" + inside + b"\xff"


def _head(kind: int, number: int) -> bytes:
    """The type and the length, or value, of an item."""
    for size, (limit, form) in enumerate(((0x100, ">B"), (0x10000, ">H"), (0x100000000, ">I")), start=24):
        if number < 24:
            return bytes([kind << 5 | number])
        if number < limit:
            return bytes([kind << 5 | size]) + struct.pack(form, number)
    raise ValueError(number)


def write_tar(path: Path, members: dict[str, bytes]) -> None:
    """Write an archive, compressed as its name says; members in their order."""
    path.parent.mkdir(parents=True, exist_ok=True)
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as archive:
        for name, content in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    if path.suffix == ".xz":
        path.write_bytes(lzma.compress(data.getvalue()))
    else:
        import gzip

        path.write_bytes(gzip.compress(data.getvalue()))
