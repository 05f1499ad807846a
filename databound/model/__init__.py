"""A job as a model on the virtual clock, which forecasts other settings and is held against real runs."""
