"""What training jobs really take, and how near forecasts, verdicts and advice come to it."""
