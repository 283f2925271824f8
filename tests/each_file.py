"""Checks of every file as one test: a report takes longer than reading a file."""


def each_file(paths, root):
    """Decorate ``test(path)`` to be called for every path, of which there must be one.

    Parameters
    ----------
    paths : sequence of pathlib.Path
    root : pathlib.Path
        Failures name the files as seen from here.
    """

    def decorate(check):
        def test():
            failed = [] if paths else ["there is no file"]
            for path in paths:
                try:
                    check(path)
                except AssertionError as error:
                    failed.append(f"{path.relative_to(root)}: {error}")
            if failed:
                raise AssertionError("\n".join(failed))

        test.__name__, test.__doc__ = check.__name__, check.__doc__
        return test

    return decorate
