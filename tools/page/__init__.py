"""Checks and bundles the scripts of the pages."""
