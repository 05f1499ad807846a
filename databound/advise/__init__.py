"""What to change: settings are chosen, tried and judged, and the page says it."""
