"""Speed and memory beside peers, as ratios within one run: `python -m benchmarks`."""
