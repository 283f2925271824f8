"""A real data set that needs no download."""

from fasttree.datasets._wine_quality import load_wine_quality

__all__ = ["load_wine_quality"]
