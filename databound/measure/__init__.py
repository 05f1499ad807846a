"""Short runs of a loader and its step, and the numbers that they come to."""
