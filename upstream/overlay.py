"""Copy patched sources over an installed scikit-learn: overlay.py SOURCE SITE."""

import shutil
import sys
from pathlib import Path

PACKAGES = ("tree", "utils", "ensemble")
SUFFIXES = {".py", ".pyx", ".pxd"}

source, site = map(Path, sys.argv[1:])
for package in PACKAGES:
    for path in (source / "sklearn" / package).rglob("*"):
        if path.suffix in SUFFIXES:
            target = site / path.relative_to(source)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
