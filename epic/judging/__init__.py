"""Our numbers beside the published ones: rows, verdicts, claims."""
