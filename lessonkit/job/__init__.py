"""A learner's own loader and step: watched in short runs, and then foretold in other settings."""
