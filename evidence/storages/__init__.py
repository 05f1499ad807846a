"""What readers see of a storage with limits: a real server on this machine, and real readers."""
