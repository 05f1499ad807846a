"""What a `DataLoader` does: in the main process, and in workers that are modelled or real."""
