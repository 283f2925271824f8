"""Check built pages: every link and picture leads to something, and none asks for the network.

``python doc/check_links.py FOLDER`` lists what does not, and fails if there is any. Links that
readers follow may lead out of the pages; what a browser loads by itself may not.
"""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = {"img": "src", "script": "src", "iframe": "src", "link": "href", "source": "srcset"}


class Page(HTMLParser):
    """The anchors of a page, its links, what it loads, and pictures without a text."""

    def __init__(self, path):
        super().__init__()
        self.anchors, self.links, self.loaded, self.without_text = {""}, [], [], []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.anchors.update(found[name] for name in ("id", "name") if found.get(name))
        if tag == "a" and found.get("href"):
            self.links.append(found["href"])
        if tag in LOADED and found.get(LOADED[tag]) and found.get("rel") != "canonical":
            self.loaded.append(found[LOADED[tag]].split(" ")[0])
        if tag == "img" and "alt" not in found:  # empty where it adds nothing to the text
            self.without_text.append(found.get("src"))


def main(folder):
    """Return a line for each fault."""
    paths = sorted(folder.rglob("*.html"))
    # What a theme keeps among its own files is no page.
    pages = {path: Page(path) for path in paths if "_static" not in path.parts}
    faults = []
    for path, page in pages.items():
        name = path.relative_to(folder)
        faults += [f"{name}: no alternative text: {source}" for source in page.without_text]
        for address in page.loaded + page.links:
            parts = urlsplit(address)
            if parts.scheme or parts.netloc:
                if address in page.loaded and parts.scheme != "data":
                    faults.append(f"{name}: loads {address}")
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path.resolve()
            target = target / "index.html" if target.is_dir() else target
            if not target.exists():
                faults.append(f"{name}: nothing at {address}")
            elif target in pages and unquote(parts.fragment) not in pages[target].anchors:
                faults.append(f"{name}: no anchor {address}")
    return faults


if __name__ == "__main__":
    found = main(Path(sys.argv[1]).resolve())
    sys.stdout.write("".join(f"{fault}\n" for fault in found))
    sys.exit(bool(found))
