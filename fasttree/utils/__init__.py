"""Building blocks shared by the tree engines: types, sorting, random numbers."""
