"""Tasks with goals, judged by running what the learner made; and a map of two knobs."""
