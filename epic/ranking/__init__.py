"""Re-ranking of first-stage runs, and the cut-off down to which hits are re-ranked."""
