"""The work of a `DataLoader`: in the main process, and in workers, modelled or real."""
