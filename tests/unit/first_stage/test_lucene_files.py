"""The checksums at the end of Lucene's files. tests/parity/test_bm25.py checks those of a real index."""

import zlib

import pytest

from epic.core.files import InputError
from epic.first_stage.lucene_files import FOOTER, PIECE, refuse_damage


def lucene(folder, name, contents=b"terms"):
    checked = contents + FOOTER
    folder.mkdir(exist_ok=True)
    (folder / name).write_bytes(checked + zlib.crc32(checked).to_bytes(8, "big"))
    return folder / name


@pytest.mark.parametrize("size", [0, 5, PIECE - 9, PIECE - 8, PIECE - 3, PIECE, 2 * PIECE + 1])
def test_files_of_any_length_are_whole_or_not(tmp_path, size):
    lucene(tmp_path / "index", "segments_1")
    path = lucene(tmp_path / "index", "_0.fdt", bytes(size))
    for other in ("write.lock", ".snakemake_timestamp"):
        (tmp_path / "index" / other).write_bytes(b"")
    refuse_damage(tmp_path / "index")
    whole = path.read_bytes()
    for place in {0, size // 2, len(whole) - 17, len(whole) - 16, len(whole) - 10, len(whole) - 1} - {-1}:
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 4]) + whole[place + 1 :])
        with pytest.raises(InputError, match=r"_0\.fdt: not as Lucene wrote it"):
            refuse_damage(tmp_path / "index")
    for cut in (whole[:-1], whole[:-9], whole[1:], b""):
        path.write_bytes(cut)
        with pytest.raises(InputError, match=r"_0\.fdt: not as Lucene wrote it"):
            refuse_damage(tmp_path / "index")


def test_an_index_without_its_list_of_segments_is_refused(tmp_path):
    lucene(tmp_path / "index", "_0.fdt")
    with pytest.raises(InputError, match=r"index: not a Lucene index: it has no segments_N; make it again"):
        refuse_damage(tmp_path / "index")
