"""Ensembles: a ranker that is the sum of members, trained one after the other on consecutive triples.

Such a ranker has `members`, rankers of their own, and `member()`, which makes one as it is before training. Member k, from 1,
starts from the seed `seed + k - 1`. It is validated, chosen and stopped as any model is, and the next one reads on where it
stopped; after the last triple comes the first, as in the published ensemble. Each has a state of its own, so a run that was
killed goes on in the middle of any member.

A member that does not learn stays in the sum, as in the published ensemble, where the seventh of eight did not; it is
reported in the log, on the model card, in the checkpoint and on the pages of its rows.
"""

import logging

import torch

from epic.corpus.runs import Run
from epic.experiment.settings import TrainSettings
from epic.training.examples import Example, Examples
from epic.training.history import Course, Iteration, best_of
from epic.training.loss import LOSSES
from epic.training.resume import State
from epic.training.train import train
from epic.training.validation import Validation

log = logging.getLogger(__name__)
LEARNED = 0.99  # a member whose loss is not below this part of a guess's has learned next to nothing


def train_all(
    family,
    ranker,
    examples: Examples | None,
    validation: Validation,
    settings: TrainSettings,
    loss: str | None,
    seed: int,
    state: State,
) -> Course:
    """Train a ranker, or its members one after the other; what there is to remark goes into the facts of the ranker, too."""
    if not hasattr(ranker, "members"):
        return Course([train(family, ranker, examples, validation, settings, loss, seed, state)], [])
    histories: list[list[Iteration]] = []
    remarks: list[str] = []
    for number, member in enumerate(ranker.members, start=1):
        own, read = seed + number - 1, sum(history[-1].triples for history in histories if history)
        log.info("member %d of %d, seed %d, after %d triples", number, len(ranker.members), own, read)
        torch.manual_seed(own)
        member.load_state_dict(ranker.member().state_dict())  # drawn on the CPU, wherever the member lies
        rest = Rest(examples, read, settings) if loss else None
        histories.append(train(family, member, rest, validation, settings, loss, own, state.inside(f"member-{number}")))
        if loss:
            said = remarks_of(family, member, histories[-1], examples.documents, validation, loss)
            remarks += [f"Member {number} of {len(ranker.members)} {remark}." for remark in said]
    for remark in remarks:
        log.warning("%s It stays in the sum.", remark)
    ranker.facts["remarks"] = remarks
    return Course(histories, remarks)


class Rest:
    """The triples from a place on, as many as one training may use: after the last comes the first, and none comes twice."""

    def __init__(self, examples: Examples, start: int, settings: TrainSettings):
        self.examples, self.start, self.documents = examples, start % len(examples), examples.documents
        self.count = min(len(examples), settings.max_validations * settings.validate_every)
        if start and self.start + self.count > len(examples):
            log.warning("there are only %d triples: this member goes on with the first after the last", len(examples))

    def __len__(self) -> int:
        return self.count

    def between(self, start: int, stop: int) -> list[Example]:
        """Return examples `start` to `stop`, counted from this member's first."""
        total = len(self.examples)
        first, last = self.start + start, self.start + stop
        if last <= total:
            return self.examples.between(first, last)
        if first >= total:
            return self.examples.between(first - total, last - total)
        return self.examples.between(first, total) + self.examples.between(0, last - total)


def remarks_of(family, member, history: list[Iteration], documents, validation: Validation, loss: str) -> list[str]:
    """Say how a member did not learn, if it did not: it cannot tell passages apart, or its loss is that of a guess."""
    remarks = []
    scored = family.score(member, validation.run, validation.queries, documents, validation.token_budget)
    if indifferent(scored):
        remarks.append("gives all passages of any validation query the same score, so it adds nothing to the order")
    best, guess = best_of(history), LOSSES[loss](torch.zeros(1, 2)).item()
    if not best.loss < LEARNED * guess:
        losses = f"its training loss is {best.loss:.4f} at its best iteration, {guess:.4f} for a guess"
        remarks.append(f"has learned next to nothing: {losses}")
    return remarks


def indifferent(run: Run) -> bool:
    """Tell whether no query with two hits or more has hits of different scores, and there is such a query."""
    several = [hits for hits in run.values() if len(hits) > 1]
    return bool(several) and all(len({hit.score for hit in hits}) == 1 for hits in several)
