"""Measures real loops: any loader and step, and what a pipeline's own functions cost."""
