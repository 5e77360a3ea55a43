"""Rows of a table for charts: few that differ in kind, and as many as the paper's experiment has, with made-up times."""


def record(name, kind, stage=None, model=None, keep=None, published=0.3, ours=0.4, published_ms=50, ours_ms=10.0):
    """Return a row of a table, as far as charts look at it."""
    found = {"id": name, "label": name.upper(), "kind": kind, "first_stage": stage, "model": model, "keep": keep}
    found |= {"published": published, "ours": ours, "ours_headline": ours, "published_ms": published_ms, "ours_ms": ours_ms}
    return found | {"query_set": "test" if ours else None, "because": ["other collection"] if ours else []}


ROWS = [
    record("bm25", "first-stage", "bm25", published=0.2, ours=0.25, published_ms=21, ours_ms=5.0),
    record("full", "model", "bm25", "paper", "full"),
    record("r100", "model", "bm25", "paper", 100, published=0.24, published_ms=None),
    record("other", "model", "bm25", "released", "full", ours=0.5),
    record("other100", "model", "bm25", "released", 100, published=0.24, published_ms=None),
    record("tk", "published-only", published=0.31, published_ms=445, ours=None, ours_ms=None),
]


def many_rows() -> list[dict]:
    """Return 33 rows whose times lie between 18 and 5,350 ms, some of them close together."""
    first = {"bm25": (0.187, 24.0), "doc2query": (0.219, 39.0), "deepct": (0.242, 18.0), "doctttttquery": (0.272, 52.0)}
    rows = [
        record(name, "first-stage", name, published=mrr, ours=mrr, published_ms=ms, ours_ms=ms)
        for name, (mrr, ms) in first.items()
    ]
    for model, better in (("paper", 0.0), ("released", -0.004), ("authors", 0.002)):
        for stage, mrr, ms in (("bm25", 0.27, 32.0), ("doctttttquery", 0.302, 60.0)):
            for keep, worse, slower in (("full", 0.0, 6.0), (2000, 0.0004, 9.0), (1000, 0.001, 5.0), (100, 0.022, 0.0)):
                value, took = mrr + better - worse, ms + slower + 100 * better
                rows.append(record(f"{model}-{stage}-{keep}", "model", stage, model, keep, value, value, took, took))
    others = {"tk-1": (0.296, 96.0), "tk-3": (0.309, 180.0), "duet-v2": (0.248, 410.0), "rescored": (0.357, 1080.0)}
    for name, (mrr, ms) in others.items():
        rows.append(record(name, "model", "bm25", name, None, mrr, mrr, ms, ms))
    rows[-1]["ms_queries"] = 50
    return [
        *rows,
        record("bert-large", "run-file", published=0.365, ours=0.365, published_ms=3500, ours_ms=5350.0) | {"ms_queries": 50},
    ]
