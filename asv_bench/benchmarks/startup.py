"""Time until a fresh interpreter has imported the trees."""


class Import:
    params = [("fasttree.tree", "sklearn.tree")]
    param_names = ["module"]

    def timeraw_import(self, module):
        return f"import {module}"
