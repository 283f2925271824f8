"""A fitted tree: its packed walk, its splits on categories, what may be loaded, other libraries."""
