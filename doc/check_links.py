"""Check built pages: every link and picture leads to something, and none asks for the network.

``python doc/check_links.py FOLDER`` lists what does not, and fails if there is any. Links that
readers follow may lead out of the pages; what a browser loads by itself may not. What newcomers
look for has to be two clicks from the start page at most, menus aside.
"""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

WANTED = (
    "install.html",
    "quick_start.html",
    "user_guide/tables.html",
    "user_guide/tuning.html",
    "user_guide/optimal_trees.html",
    "user_guide/forests.html",
    "benchmarks.html",
    "api/generated/fasttree.tree.DecisionTree.html",
)
LOADED = {"img": "src", "script": "src", "iframe": "src", "link": "href", "source": "srcset"}


class Page(HTMLParser):
    """Anchors of a page, all links, those in its text, what it loads, pictures without a text."""

    def __init__(self, path):
        super().__init__()
        self.anchors, self.links, self.loaded, self.without_text = {""}, [], [], []
        self.in_text, self.is_text = [], False
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.anchors.update(found[name] for name in ("id", "name") if found.get(name))
        if tag == "article":
            self.is_text = True
        if tag == "a" and found.get("href"):
            self.links.append(found["href"])
            self.in_text += [found["href"]] * self.is_text
        if tag in LOADED and found.get(LOADED[tag]) and found.get("rel") != "canonical":
            self.loaded.append(found[LOADED[tag]].split(" ")[0])
        if tag == "img" and "alt" not in found:  # empty where it adds nothing to the text
            self.without_text.append(found.get("src"))

    def handle_endtag(self, tag):
        if tag == "article":
            self.is_text = False


def target_of(path, address):
    """Return the file that an address on a page names, or None if it leads out of the pages."""
    parts = urlsplit(address)
    if parts.scheme or parts.netloc:
        return None
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    return target / "index.html" if target.is_dir() else target


def far_away(folder, pages):
    """Return a line for each wanted page that is more than two clicks from the start page."""
    reached = {folder / "index.html"}
    for _ in range(2):
        shown = [(path, pages[path].in_text) for path in reached & pages.keys()]
        reached |= {target_of(path, address) for path, links in shown for address in links}
    return [
        f"index.html: not in two clicks: {name}" for name in WANTED if folder / name not in reached
    ]


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
            target, fragment = target_of(path, address), unquote(urlsplit(address).fragment)
            if target is None:
                if address in page.loaded and not address.startswith("data:"):
                    faults.append(f"{name}: loads {address}")
            elif not target.exists():
                faults.append(f"{name}: nothing at {address}")
            elif target in pages and fragment not in pages[target].anchors:
                faults.append(f"{name}: no anchor {address}")
    return faults + far_away(folder, pages)


if __name__ == "__main__":
    found = main(Path(sys.argv[1]).resolve())
    sys.stdout.write("".join(f"{fault}\n" for fault in found))
    sys.exit(bool(found))
