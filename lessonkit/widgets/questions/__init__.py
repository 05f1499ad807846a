"""Questions before a run: a number, a choice, placed bars or a drawn curve, and how each is judged."""
