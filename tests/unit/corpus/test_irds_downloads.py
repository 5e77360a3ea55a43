"""The downloads of ir_datasets, real but for the addresses: a server on this machine, md5s compared, things going wrong."""

import hashlib
import json

import pytest

from tests.loopback import content, loopback, status
from tests.seeded import run_in, seed

FILES = {
    "collectionandqueries": "collectionandqueries.tar.gz", "queries": "queries.tar.gz", "train/qrels": "train/qrels",
    "dev/qrels": "dev/qrels", "train/docpairs": "train/docpairs.tsv.gz", "trec-dl-2019/qrels": "trec-dl-2019/qrels",
    "trec-dl-2020/queries": "trec-dl-2020/queries.tsv.gz", "trec-dl-2020/qrels": "trec-dl-2020/qrels",
}  # fmt: skip
PRELUDE = """
import json, logging, pkgutil, sys
logging.basicConfig(level="INFO")
real = pkgutil.get_data
def get_data(package, name):
    data = real(package, name)
    if (package, name) == ("ir_datasets", "etc/downloads.json"):
        found = json.loads(data)
        for key, changes in CHANGES.items():
            found["msmarco-passage"][key].update(changes)
        data = json.dumps(found).encode()
    return data
pkgutil.get_data = get_data
from epic.corpus import irds_downloads as irds
irds.PAUSES = (0.05, 0.05)
from epic.corpus.data import prepare_documents, prepare_queries
from epic.corpus.documents import open_documents
from epic.corpus.triples import write_triples
out = OUT
def documents():
    prepare_documents("msmarco-passage", 7, out + "/manifest.json")
    return open_documents(out + "/manifest.json")
def queries(name):
    prepare_queries("msmarco-passage/" + name, documents(), out + "/queries.tsv", out + "/qrels.txt", out + "/counts.json")
"""


class Mirror:
    """The archives of a seeded home behind a server, and a home of ir_datasets that is empty."""

    def __init__(self, server, folder):
        self.server, self.home, self.out, self.changes, self.data = server, folder / "home", folder / "out", {}, {}
        seed(folder / "source")
        for key, file in FILES.items():
            self.offer(key, (folder / "source" / "msmarco-passage" / file).read_bytes())

    def offer(self, key, data, *answers, **changes):
        """Serve `data` under a key of ir_datasets' list of downloads, or the given answers."""
        url = self.server.serve(f"/{key}", *(answers or [content(data)]))
        self.data[key] = data
        self.changes[key] = {
            "url": url,
            "expected_md5": hashlib.md5(data).hexdigest(),
            "size_hint": len(data),
            "irds_mirror": False,
        }
        self.changes[key].update(changes)

    def run(self, code, **environment):
        prelude = PRELUDE.replace("CHANGES", repr(self.changes)).replace("OUT", repr(str(self.out)))
        return run_in(self.home, code, prelude=prelude, **environment)

    def place(self, file):
        return self.home / "msmarco-passage" / file

    def times(self, key):
        return len(self.server.ranges(f"/{key}"))


@pytest.fixture
def mirror(tmp_path):
    with loopback() as server:
        yield Mirror(server, tmp_path)


def said(run):
    """The last line of a failed run: what a person is told."""
    assert run.returncode, run.stderr
    last = run.stderr.strip().splitlines()[-1]
    assert last.startswith("epic.core.files.InputError: "), run.stderr
    return last


def test_everything_is_downloaded_once_compared_and_put_in_its_place_after_the_terms(mirror):
    code = "queries('dev/judged'); queries('dev/small'); queries('train/split200-valid'); queries('trec-dl-2020/judged')\n"
    code += "source = {'source': 'docpairs', 'dataset': 'msmarco-passage/train/split200-train'}\n"
    code += "write_triples(source, 4, {'manifest': out + '/manifest.json'}, out + '/t.tsv', out + '/tq.tsv')"
    run = mirror.run(code)
    assert run.returncode == 0, run.stderr
    assert json.loads((mirror.out / "manifest.json").read_text())["count"] == 7
    assert (mirror.out / "qrels.txt").read_text().startswith("23001 0 1 3\n")
    used = set(FILES) - {"trec-dl-2019/qrels"}
    assert {key: mirror.times(key) for key in FILES} == dict.fromkeys(FILES, 1) | {"trec-dl-2019/qrels": 0}
    assert all(mirror.place(FILES[key]).read_bytes() == mirror.data[key] for key in used)
    assert run.stderr.count("https://msmarco.org") == 1
    assert run.stderr.index("non-commercial research only") < run.stderr.index(f"{mirror.server.url}/collectionandqueries")
    assert "B/s]" not in run.stderr.split("[finished]")[0]  # no progress bar where there is no terminal


def test_another_md5_is_refused_with_the_address_and_the_place_for_the_file(mirror):
    data = mirror.data["collectionandqueries"]
    mirror.offer("collectionandqueries", data, expected_md5="0" * 32)
    told = said(mirror.run("documents()"))
    assert f"{mirror.server.url}/collectionandqueries was not delivered: Expected md5 hash to be 000" in told
    assert f"({len(data)} bytes, md5 {'0' * 32}), place it at {mirror.place('collectionandqueries.tar.gz')}" in told
    assert not mirror.place("collectionandqueries.tar.gz").exists() and not (mirror.out / "manifest.json").exists()


@pytest.mark.parametrize("ranges", [True, False])
@pytest.mark.parametrize("tries", ["1", "3"])
def test_a_connection_that_breaks_once_is_no_matter(mirror, ranges, tries):
    data = mirror.data["collectionandqueries"]
    mirror.offer("collectionandqueries", data, content(data, ranges, until=len(data) // 2), content(data, ranges))
    run = mirror.run("documents()", IR_DATASETS_DL_TRIES=tries)
    assert run.returncode == 0, run.stderr
    assert mirror.times("collectionandqueries") == 2 and mirror.place("collectionandqueries.tar.gz").read_bytes() == data


def test_a_connection_that_always_breaks_is_given_up_with_a_clear_message(mirror):
    data = mirror.data["queries"]
    mirror.offer("queries", data, content(data, ranges=False, until=len(data) // 2))
    told = said(mirror.run("queries('dev/judged')"))
    assert "msmarco-passage/dev/judged: " in told and "IncompleteRead" in told and "Try again later" in told
    assert str(mirror.place("queries.tar.gz")) in told and not mirror.place("queries.tar.gz").exists()


def test_an_error_of_the_server_is_tried_again_and_then_named(mirror):
    data = mirror.data["dev/qrels"]
    mirror.offer("dev/qrels", data, status(500), status(500), status(500), status(500), content(data))
    run = mirror.run("queries('dev/judged')")  # each try asks twice: ir_datasets takes the error page for the file
    assert run.returncode == 0, run.stderr
    assert run.stderr.count("trying again") == 2
    mirror.offer("train/qrels", mirror.data["train/qrels"], status(503))
    told = said(mirror.run("queries('train/split200-valid')"))
    assert "/train/qrels was not delivered: the server answers 503 Service Unavailable." in told


def test_a_file_that_ir_datasets_keeps_only_unpacked_is_to_be_placed_so(mirror):
    mirror.offer("trec-dl-2019/queries", b"", status(404))
    told = said(mirror.run("queries('trec-dl-2019/judged')"))
    assert "the server answers 404 Not Found" in told and f"unpack it as {mirror.place('trec-dl-2019/queries.tsv')}" in told


def test_all_mirrors_are_named(mirror):
    mirror.offer("trec-dl-2020/qrels", b"", status(404), irds_mirror=True, expected_md5="1" * 32)
    told = said(mirror.run("queries('trec-dl-2020/judged')"))
    assert f"{mirror.server.url}/trec-dl-2020/qrels: Expected md5" in told and "https://mirror.ir-datasets.com/1111" in told


def test_a_disk_that_is_too_small_is_named(mirror):
    mirror.offer("collectionandqueries", mirror.data["collectionandqueries"], size_hint=10**18)
    told = said(mirror.run("documents()"))
    assert "Insufficient disk space" in told and "IR_DATASETS_HOME to a folder on a larger disk" in told
    assert mirror.times("collectionandqueries") == 0


def test_a_copy_placed_by_its_md5_is_compared_and_used(mirror):
    data = mirror.data["collectionandqueries"]
    mirror.offer("collectionandqueries", data, status(500))
    copy = mirror.home / "downloads" / hashlib.md5(data).hexdigest()
    copy.parent.mkdir(parents=True)
    copy.write_bytes(data[:-1])
    told = said(mirror.run("documents()", IR_DATASETS_SMALL_FILE_SIZE="0"))
    assert "the server answers 500" in told and f"(The copy at {copy} has another md5.)" in told
    copy.write_bytes(data)
    run = mirror.run("documents()", IR_DATASETS_SMALL_FILE_SIZE="0")
    assert run.returncode == 0, run.stderr


def test_an_error_that_is_no_download_s_is_not_dressed_up(mirror):
    run = mirror.run("irds.fetched('msmarco-passage', lambda: 1 / 0)")
    assert run.stderr.strip().endswith("ZeroDivisionError: division by zero")
