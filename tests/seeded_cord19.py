"""A tiny home of ir_datasets in the file formats of CORD-19 and TREC-COVID, so that its real loading code runs offline.

The articles are the embedded collection's passages, each with a title. As in the real metadata.csv some have no abstract, and
some rows have the id of a later one. The judgments have the real ones' rounds in their second column, and grades from -1 to 2.
"""

import csv
import io
from pathlib import Path
from typing import NamedTuple
from xml.sax.saxutils import escape

from tests.conftest import TINY
from tests.seeded import Asked, asked_of

COLUMNS = [
    "cord_uid", "sha", "source_x", "title", "doi", "pmcid", "pubmed_id", "license", "abstract", "publish_time", "authors", "journal",
    "mag_id", "who_covidence_id", "arxiv_id", "pdf_json_files", "pmc_json_files", "url", "s2_id",
]  # fmt: skip
EMPTY = 40  # articles without an abstract
AGAIN = (3, 43, 44, 120)  # passages that have an older row before them, of the same id


class Article(NamedTuple):
    """What ir_datasets takes from a row."""

    uid: str
    title: str
    abstract: str


def uid(number: int) -> str:
    """An id of eight letters and digits, as CORD-19's are; neither in order nor numbers of rows."""
    return f"{(number * 7919 + 13) % 36**4:08x}"[::-1]


def articles() -> list[Article]:
    """All rows: older rows first, and articles without an abstract between the others."""
    texts = [line.split("\t")[1] for line in (TINY / "docs.tsv").read_text(encoding="utf-8").splitlines()]
    rows = [Article(uid(number), f"older title {number}", f"withdrawn abstract of pools {number}") for number in AGAIN]
    rows[1] = rows[1]._replace(abstract="")
    for number, text in enumerate(texts):
        rows.append(Article(uid(number), " ".join(text.split()[:5]), text))
        if number % (len(texts) // EMPTY) == 0 and number // (len(texts) // EMPTY) < EMPTY:
            rows.append(Article(uid(1000 + number), f'A title, "quoted", without abstract {number}', ""))
    rows[-1] = rows[-1]._replace(abstract=f'{rows[-1].abstract}\nA second line, with "quotes".')
    return rows


def seed_cord19(home: Path, queries: int = 20) -> dict[str, str]:
    """Write the home; returns the titles of the topics by their ids, 1, 2 and so on."""
    folder, asked = Path(home) / "cord19", asked_of("test")[:queries]
    (folder / "2020-07-16").mkdir(parents=True)
    (folder / "trec-covid").mkdir()
    (folder / "2020-07-16" / "metadata.csv").write_text(metadata(), encoding="utf-8", newline="")
    (folder / "trec-covid" / "queries.xml").write_text(topics(asked), encoding="utf-8")
    (folder / "trec-covid" / "qrels").write_text(judgments(asked))
    return {str(number): topic.text for number, topic in enumerate(asked, start=1)}


def metadata() -> str:
    """The file metadata.csv of a release."""
    stream = io.StringIO()
    writer = csv.DictWriter(stream, COLUMNS, restval="", lineterminator="\n")
    writer.writeheader()
    for number, article in enumerate(articles()):
        facts = {"cord_uid": article.uid, "title": article.title, "abstract": article.abstract, "publish_time": "2020-07-01"}
        writer.writerow(facts | {"source_x": "PMC; Medline", "doi": f"10.1000/{number}", "authors": "Doe, Jane; Roe, R."})
    return stream.getvalue()


def topics(asked: list[Asked]) -> str:
    """The file of topics of round 5: a query, a question and a narrative each."""
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', '<topics task="COVIDSearch 2020" batch="5">']
    for number, topic in enumerate(asked, start=1):
        lines += [f'  <topic number="{number}">', f"    <query>{escape(topic.text)}</query>"]
        lines += [f"    <question>what is known of {escape(topic.text)}</question>"]
        lines += ["    <narrative>Looking for articles &amp; reviews.</narrative>", "  </topic>", ""]
    return "\n".join([*lines, "</topics>", ""])


def judgments(asked: list[Asked]) -> str:
    """The judgments of all rounds: query, round, id, grade."""
    lines = []
    for number, topic in enumerate(asked, start=1):
        grades = {position: 2 - (number + place + 1) % 2 for place, position in enumerate(topic.relevant)}
        others = [position for position in range(number, 336, 50) if position not in grades]
        grades |= {position: -1 if number == 1 and place == 1 else 0 for place, position in enumerate(others)}
        lines += [f"{number} {0.5 + place % 5} {uid(position)} {grade}" for place, (position, grade) in enumerate(grades.items())]
    return "\n".join([*lines, ""])
