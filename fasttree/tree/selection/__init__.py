"""The best split of one column, and what a single split is worth."""
