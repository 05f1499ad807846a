"""Changes descriptions: advice, knobs, rules and the tuner."""
