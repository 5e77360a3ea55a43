"""The paper's collection and vocabulary in numbers, said once."""

PASSAGES = 8_841_823  # of MS MARCO; no multiple of eight
QUERIES = {  # of its judged sets, by their names in ir_datasets, which takes a second to import
    "msmarco-passage/dev/judged": 55_578,
    "msmarco-passage/dev/small": 6_980,
    "msmarco-passage/trec-dl-2019/judged": 43,
    "msmarco-passage/trec-dl-2020/judged": 54,
}
VOCABULARY = 30_522  # word-pieces of bert-base-uncased
