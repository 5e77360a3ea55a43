"""The paper's collection and vocabulary in numbers, said once."""

PASSAGES = 8_841_823  # of MS MARCO; no multiple of eight
VOCABULARY = 30_522  # word-pieces of bert-base-uncased
