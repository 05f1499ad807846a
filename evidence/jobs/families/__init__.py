"""Twenty-four jobs of the families that people have, which make their data when they are first used.

`python -m evidence.jobs.by_hand` runs each in many settings, and compares `recommend` with the best.
"""
