"""Draws traces as the pictures that notebooks store; `drawing.draw` draws a bar."""
