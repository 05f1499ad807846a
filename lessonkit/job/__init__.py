"""A learner's own loader and step: watched in short runs, and then forecast in other settings."""
