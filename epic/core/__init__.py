"""Files, logs, kernels, machines: every other package may use them, and they know nothing of retrieval."""
