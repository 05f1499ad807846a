"""What real tf.data, PyTorch, storages and GPUs did, and the programs that measured it."""
