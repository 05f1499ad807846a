"""Runs a description, on a virtual clock or for real, and records what happened."""
