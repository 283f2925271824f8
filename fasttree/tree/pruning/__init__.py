"""Pruning and training-only-once tuning of grown trees."""
