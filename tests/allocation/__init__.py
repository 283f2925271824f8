"""Failed allocations: what the engine asks memory for, and what happens if it gets none."""
