"""TREC CAR 2017 in numbers, said once: its paragraphs, and the queries of the sets that are searched."""

PARAGRAPHS = 29_678_367  # of version 1.5
FOLDS = (467_946, 466_596, 469_323, 463_314, 468_789)
QUERIES = {  # as ir_datasets counts them: a page that has a heading twice has its query twice
    "car/v1.5/trec-y1/auto": 2_287,
    "car/v1.5/trec-y1/manual": 2_287,
    "car/v1.5/test200": 1_987,
    **{f"car/v1.5/train/fold{number}": queries for number, queries in enumerate(FOLDS)},
}
