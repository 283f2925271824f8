"""Peak memory of a fit, to be read against the process that holds only the data."""

from . import data
from .common import LARGE, LIBRARIES, make_estimator

N_ROWS = 1_000_000 if LARGE else 50_000


class Fit:
    params = [("data only", *LIBRARIES)]
    param_names = ["library"]

    def setup_cache(self):
        return data.classification(N_ROWS)

    def peakmem_fit(self, cache, library):
        X, y = cache
        if library != "data only":
            make_estimator(library, "classification").fit(X, y)
