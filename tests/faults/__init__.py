"""Faults on purpose: kills, full disks, power cuts, damaged files, hostile archives, odd places. `make faults` runs all of them.

Each trial ends in one of four ways: the results are those of an undisturbed run, or the run is refused in words that name
the reason (both: survived); the results differ and nobody says so (silent); or a person sees a traceback, or no reason.
"""
