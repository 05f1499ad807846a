"""A pipeline as program text: one expression, or a whole program for this package or for tf.data."""
