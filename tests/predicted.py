"""Predicted queries for tests: the names of docTTTTTquery's files, and what an expanded collection holds."""

import json

NAME = "predicted_queries_topk_sample{:03d}.txt{:03d}-1004000"  # sample, chunk


def contents(out):
    return [json.loads(line) for line in (out / "docs-000.jsonl").read_text(encoding="utf-8").splitlines()]
