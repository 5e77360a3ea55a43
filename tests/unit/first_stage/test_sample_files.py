"""Names of files of predicted queries: what is written is recognised, and the published names are."""

import pytest

from epic.first_stage.sample_files import MEMBER, member_name


@pytest.mark.parametrize(("sample", "chunk"), [(0, 0), (79, 17), (999, 999), (3, 4095)])
def test_names_are_recognised(sample, chunk):
    assert MEMBER.search(member_name(sample, chunk)).groups() == (f"{sample:03d}", f"{chunk:03d}")
    assert MEMBER.search(f"some/folder/{member_name(sample, chunk)}")


def test_the_published_names_are_these():
    assert member_name(39, 17) == "predicted_queries_topk_sample039.txt017-1004000"
    assert not MEMBER.search("predicted_queries_topk_sample39.txt017-1004000") and not MEMBER.search(
        "xpredicted_queries_topk_sample039"
    )
