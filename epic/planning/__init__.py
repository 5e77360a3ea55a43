"""Before a run: its cost, this machine's fitness for it, and the leftovers of an earlier one."""
