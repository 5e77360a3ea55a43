"""Measures of a run, and tests of whether two systems differ by more than chance."""
