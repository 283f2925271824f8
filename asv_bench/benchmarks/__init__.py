"""Speed and memory of fasttree beside scikit-learn, for ``asv`` and for ``compare.py``."""
