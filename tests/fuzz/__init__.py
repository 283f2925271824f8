"""Fuzzing: random problems, tampered pickles and damaged files, drawn from seeds.

``draws``       what a case may hold, and weighted choices that can be left out by name
``fits``        problems for every estimator, and what must hold of a fit
``parameters``  parameters of the estimators
``data``        matrices and tables in every form, their targets and weights
``pickles``     pickled estimators with parts replaced
``csvs``        files for the reader and the command
``runner``      batches in processes of their own; smaller cases of what is found

``python -m fuzz --help``, in the folder of the tests, says how to run it. A case is a function of
its kind, the seed of the run and its number.
"""
