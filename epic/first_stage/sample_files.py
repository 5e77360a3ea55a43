"""Names of files of predicted queries, as docTTTTTquery has them.

Apart from `predicted_queries`, which reads them in all published forms: an edit there is no reason to generate queries again.
"""

import re

MEMBER = re.compile(r"(?:^|/)predicted_queries_topk_sample([0-9]{3})\.txt([0-9]{3,4})-1004000\Z")


def member_name(sample: int, chunk: int) -> str:
    """Return the name of a file of queries: one sample of one chunk of the collection."""
    return f"predicted_queries_topk_sample{sample:03d}.txt{chunk:03d}-1004000"
