"""Timings for tests: of a query, of a stage, and what a file says about itself."""

ABOUT = {"settings": {"hits": 100}, "stages": {"beside": [["retrieve"]], "after": ["score"]}}
STAGE = {"mean": 1.0, "interval": [0.5, 1.5], "p50": 1.0, "p95": 2.0, "p99": 3.0}


def total(milliseconds):
    return {"retrieve": 0, "score": 0, "total": int(milliseconds * 1e6)}
