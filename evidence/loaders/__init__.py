"""What PyTorch's `DataLoader` does: batches, workers, errors and times of described loaders."""
