"""Somebody else's training script, run by us: caught at its first step, and left without a trace."""
