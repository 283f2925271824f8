"""Exact decision trees for Python at histogram speed."""

from fasttree._config import config_context, get_config, set_config

__version__ = "0.1.0"

__all__ = ["__version__", "config_context", "get_config", "set_config"]


def _check_is_built():
    """Raise if this is the bare source folder, which shadows an installed fasttree."""
    from importlib.util import find_spec
    from pathlib import Path

    folder = Path(__file__).parent
    if (folder / "meson.build").exists() and find_spec("fasttree.utils._threads") is None:
        raise ImportError(
            f"{folder} is fasttree's source folder and holds no compiled modules. Python found it "
            "before an installed fasttree, most likely because it was started in the "
            "repository's root. Start it in another folder; if fasttree is not installed yet, "
            "run 'pip install .' in the root first."
        )


_check_is_built()
