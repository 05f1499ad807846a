"""Tasks with goals, judged by running what the learner made; a map of two knobs; mystery loaders."""
