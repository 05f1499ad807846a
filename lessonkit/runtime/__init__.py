"""The two clocks, and the awaitables that operators wait with."""
