"""Reads a trace: why the run took that long, and what it did to memory and to the data."""
