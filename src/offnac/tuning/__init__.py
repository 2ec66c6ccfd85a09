"""Search for better settings: each trial is an ordinary run, and Optuna chooses the next one's settings."""
