"""Draws traces: the layout that every picture shares, and the pictures that notebooks store."""
