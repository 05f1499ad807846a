"""What real tf.data does: elements, order, errors and times of described pipelines."""
