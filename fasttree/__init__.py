"""Exact decision trees for Python at histogram speed."""

from fasttree._config import config_context, get_config, set_config

__version__ = "0.1.0"

__all__ = ["__version__", "config_context", "get_config", "set_config"]
