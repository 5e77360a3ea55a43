"""The smallest family of re-rankers: a stand-in for a cross-encoder, which reads a query and a passage together."""

import torch

from epic.rankers.pairs import NEW_LAYERS, card, create, load, pair_scores, save, score, score_run, timed  # noqa: F401

PRECOMPUTES = False
STAGES = {"beside": [["retrieve"]], "after": ["load", "score"]}
SETTINGS = {"properties": {"settings": {"additionalProperties": False, "properties": {"scale": {"type": "number"}}}}}


class Ranker(torch.nn.Module):
    """A weight for shared words, and one for the passage's length."""

    def __init__(self, settings, encoder):
        super().__init__()
        self.weight, self.scale = torch.nn.Parameter(torch.tensor([0.1, 0.1])), settings["scale"]

    def pairs(self, queries, passages):
        words = [(set(query.lower().split()), passage.lower().split()) for query, passage in zip(queries, passages, strict=True)]
        shared = [(len(query & set(text)) / (1 + len(query)), len(text) / 100) for query, text in words]
        return self.scale * torch.tensor(shared, device=self.weight.device) @ self.weight  # (n,)
