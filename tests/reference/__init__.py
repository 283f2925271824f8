"""Naive twins: what fasttree must compute, written as plainly as NumPy allows.

``impurity``  the criteria, by definition
``splits``    every cut of a node, and the best one
``grow``      a whole tree from them
``judge``     a fitted tree checked node by node against them
``problems``  random problems and estimators, drawn from a seed
``trees``     comparing fitted trees
``kernels``   kernels of single arrays; ``scores`` of ways to separate rows, ``pairs`` of features
``tuning``    cutting a tree, by the definition
``sparse``    the random problems as sparse matrices
``naive_hybrid``   splits of tables on numbers and categories; ``naive_optimal`` optimal trees

Nothing here is fast, and nothing here is shared with the engine.

Several files of tests also share what they fit and compare: ``drop_ins``, our estimators beside
scikit-learn's; ``searches``, ours and theirs over one grid; ``task``, what a fit is about;
``handed_on``, fitted trees for what writes them as code; ``jobs``, fits for other processes;
``forests``, ``tables``, ``optimal_problems`` and ``model_files``, the data and the fits of the
tests of these.
"""
