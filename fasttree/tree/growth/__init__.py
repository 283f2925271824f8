"""Growth of a tree: the loop over nodes, and what threads do together."""
