"""What the package costs, beside peers that do the same on the same machine."""
