"""Measure the power of the tests: change the package in one place, and see whether a test fails."""
