"""A script that runs as it is, for an epoch or for so many batches: watched, tried, compared."""
