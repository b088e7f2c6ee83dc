"""What the two commands do: set-up, tests, and re-running notebooks."""
