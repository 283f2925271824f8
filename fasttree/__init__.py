"""Exact decision trees for Python at histogram speed."""

__version__ = "0.1.0"
