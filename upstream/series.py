"""Apply the pieces for scikit-learn to a source tree of scikit-learn 1.9.1.

    python upstream/series.py SDIST_OR_CHECKOUT OUT

writes OUT/scikit-learn, a git repository that holds a copy of the source and one commit per
piece, and OUT/patches, the commits as `git format-patch` writes them. The given source is only
read. Nothing is written unless every piece fits.

A folder next to this file is a piece. Its message.txt is the message of the commit; every other
file mirrors a path of scikit-learn: `NAME.edit` edits the file NAME, anything else is a new file.
An edit is a list of sections, each a line that names a place and, below it, our lines:

    #@ body: class Tree > def apply = 1f0c3d2b9a77

A place is a path of steps, each unique inside the one before: `class NAME`, `def NAME` (def, cdef
and cpdef alike) or the beginning of any other statement or of a further line of a statement that
takes several, with `#2` behind it for the second of several. What is done there:

    body      our lines replace the body of a function; its docstring stays
    header    our lines replace the line that opens a block; the block stays
    replace   our lines replace the place
    before    our lines come before the place
    after     our lines come after the place
    end       our lines come at the end of a class or function; without a place, of the file

The hexadecimal number is a digest of the place: source that differs from what the piece was
written for is refused.
"""

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
from dataclasses import dataclass
from pathlib import Path

VERSION = "1.9.1"
PIECES = Path(__file__).resolve().parent
AUTHOR = {"NAME": "fasttree", "EMAIL": "fasttree@localhost", "DATE": "2026-01-01T00:00:00+0000"}
NOT_COPIED = shutil.ignore_patterns(".git", "build", "__pycache__", "*.so")

# What hides a line's end or bounds it: strings, comments, joined lines, brackets.
TOKEN = re.compile(
    r"""(\"\"\"|''')(?:\\.|.)*?\1 | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*'
    | \#[^\n]* | \\\n | [][(){}\n]""",
    re.DOTALL | re.VERBOSE,
)
SECTION = re.compile(
    r"#@ (body|header|replace|before|after|end)(?:: (.+?))?(?: = ([0-9a-f]{12}))?\n"
)
DEFINITION = r"(?:c|cp)?def\b(?! class\b)[^(=]*?\b{}\("


class SeriesError(Exception):
    """The source is not what the pieces were written for."""


@dataclass
class Statement:
    """A line of code with the lines it continues on, as offsets into the text."""

    start: int
    header_end: int
    end: int  # of the block below it
    indent: int
    text: str  # from its first character to the end of its header
    children: list


def parse(text):
    """The tree of statements of Python or Cython source, as the children of one for the file."""
    root = Statement(0, 0, len(text), -1, "", [])
    open_blocks = [root]
    for start, end in _logical_lines(text):
        line = text[start:end]
        code = line.lstrip()
        if not code or code.startswith("#"):
            continue
        indent = len(line) - len(code)
        while open_blocks[-1].indent >= indent:
            open_blocks.pop()
        statement = Statement(start, end, end, indent, code, [])
        open_blocks[-1].children.append(statement)
        for block in open_blocks[1:]:
            block.end = end
        open_blocks.append(statement)
    return root


def _logical_lines(text):
    start = depth = 0
    for token in TOKEN.finditer(text):
        mark = token[0]
        if mark == "\n" and depth == 0:
            yield start, token.end()
            start = token.end()
        elif mark in "([{":
            depth += 1
        elif mark in ")]}":
            depth -= 1
    if start < len(text):
        yield start, len(text)


def find(text, place):
    """The statement that a place names."""
    found = parse(text)
    for step in place.split(" > "):
        name, _, number = step.partition(" #")
        matches = [child for child in found.children if _matches(child, name)]
        matches = matches or [line for line in _further_lines(text, found) if _matches(line, name)]
        if not matches or (len(matches) > 1 and not number) or len(matches) < int(number or 1):
            raise SeriesError(f"{len(matches) or 'no'} places {step!r} of {place!r}")
        found = matches[int(number or 1) - 1]
    return found


def _further_lines(text, statement):
    """The lines on which the header of a statement continues, as statements of their own."""
    start = text.find("\n", statement.start, statement.header_end - 1) + 1
    while 0 < start < statement.header_end:
        end = text.index("\n", start) + 1
        code = text[start:end].lstrip()
        yield Statement(start, end, end, end - start - len(code), code, [])
        start = end


def _matches(statement, name):
    kind, _, rest = name.partition(" ")
    if kind == "class" and rest.isidentifier():
        return re.match(rf"(?:cdef )?class {rest}\b", statement.text)
    if kind == "def" and rest.isidentifier():
        return re.match(DEFINITION.format(rest), statement.text)
    return re.match(re.escape(name) + (r"\b" if name[-1].isalnum() else ""), statement.text)


def digest(text, place):
    """What the digest of a section is compared with."""
    found = find(text, place)
    return hashlib.sha256(text[found.start : found.end].encode()).hexdigest()[:12]


def apply_section(text, verb, place, expected, lines):
    """The text of a file after one section of an edit."""
    if place is None:
        return text + "\n\n" + lines if verb == "end" and text else text + lines
    found = find(text, place)
    if expected is not None and digest(text, place) != expected:
        raise SeriesError(f"{place!r} has changed: digest {digest(text, place)}, not {expected}")
    if verb in ("body", "end"):
        if not found.children:
            raise SeriesError(f"{place!r} has no body")
        first = found.children[0]
        is_documented = re.match(r"[rR]?(\"\"\"|''')", first.text)
        start = first.end if verb == "body" and is_documented else found.header_end
        span = (start, found.end) if verb == "body" else (found.end, found.end)
        indent = first.indent
    else:
        span = {
            "header": (found.start, found.header_end),
            "replace": (found.start, found.end),
            "before": (_with_decorators(text, found.start),) * 2,
            "after": (found.end, found.end),
        }[verb]
        indent = found.indent
    return text[: span[0]] + _indented(lines, indent) + text[span[1] :]


def _with_decorators(text, start):
    """The start of the decorators above a definition."""
    above = text.rfind("\n", 0, max(start - 1, 0)) + 1
    is_decorator = above < start and text[above:start].lstrip().startswith("@")
    return _with_decorators(text, above) if is_decorator else start


def _indented(lines, indent):
    return "".join(" " * indent + s if s.strip() else s for s in lines.splitlines(keepends=True))


def apply_edit(text, edit):
    """The text of a file after an edit: all its sections, in their order."""
    parts = SECTION.split(edit)
    if parts[0].strip() or len(parts) == 1:
        raise SeriesError("an edit must start with a section")
    for verb, place, expected, lines in zip(*(parts[i::4] for i in (1, 2, 3, 4))):
        text = apply_section(text, verb, place, expected, lines)
    return text


def pieces(folder=PIECES):
    """The folders of the pieces in their order."""
    return sorted(path.parent for path in folder.glob("*/message.txt"))


def changed_files(piece, read):
    """The files of a piece as {path: new text}; `read` gives the present text or None."""
    changed = {}
    for source in sorted(piece.rglob("*")):
        path = source.relative_to(piece).as_posix()
        if source.is_dir() or path == "message.txt":
            continue
        target = path.removesuffix(".edit")
        before, ours = read(target), source.read_text()
        try:
            if path == target and before is not None:
                raise SeriesError("exists already")
            if path != target and before is None:
                raise SeriesError("is missing")
            changed[target] = ours if path == target else apply_edit(before, ours)
        except SeriesError as error:
            raise SeriesError(f"{piece.name}: {target}: {error}") from None
    return changed


def apply_series(read, folder=PIECES):
    """[(message, {path: new text})] per piece, each on top of the ones before."""
    now, series = {}, []
    for piece in pieces(folder):
        changed = changed_files(piece, lambda path: now.get(path, read(path)))
        now.update(changed)
        series.append((piece.joinpath("message.txt").read_text(), changed))
    return series


def source_reader(source):
    """A function from a path to its text or None, for a folder or an sdist of scikit-learn."""
    if source.is_dir():
        return lambda path: (source / path).read_text() if (source / path).is_file() else None
    try:
        archive = tarfile.open(source)  # noqa: SIM115  (read for as long as the reader lives)
    except (OSError, tarfile.TarError):
        raise SeriesError("neither a folder nor a source archive") from None
    names = set(archive.getnames())
    top = min(names, key=len, default="").split("/")[0]

    def read(path):
        name = f"{top}/{path}"
        return archive.extractfile(name).read().decode() if name in names else None

    return read


def check_version(read):
    found = re.search(r'^__version__ = "(.+)"', read("sklearn/__init__.py") or "", re.MULTILINE)
    if found is None:
        raise SeriesError("no source of scikit-learn")
    if found[1] != VERSION:
        raise SeriesError(f"scikit-learn {found[1]}, the pieces are for {VERSION}")


def copy_source(source, target):
    if source.is_dir():
        shutil.copytree(source, target, symlinks=True, ignore=NOT_COPIED)
        return
    unpacked = target.with_name("unpacked")
    with tarfile.open(source) as archive:
        archive.extractall(unpacked, filter="data")
    (top,) = unpacked.iterdir()
    top.rename(target)
    unpacked.rmdir()


def git(repository, *arguments):
    roles = ("AUTHOR", "COMMITTER")
    identity = {f"GIT_{role}_{key}": value for role in roles for key, value in AUTHOR.items()}
    config = ("-c", "core.autocrlf=false", "-c", "commit.gpgsign=false", "-c", "gc.auto=0")
    subprocess.run(
        ["git", *config, *arguments],
        cwd=repository,
        check=True,
        stdout=subprocess.DEVNULL,
        env=os.environ | identity,
    )


def write_series(source, out, series):
    """The repository with a commit per piece, and the patches."""
    repository = out / "scikit-learn"
    copy_source(source, repository)
    git(repository, "init", "--quiet", "--initial-branch=pieces")
    git(repository, "add", "--all", "--force")
    git(repository, "commit", "--quiet", "--message", f"scikit-learn {VERSION}")
    git(repository, "tag", "unpatched")
    for number, (message, changed) in enumerate(series, 1):
        for path, text in changed.items():
            (repository / path).parent.mkdir(parents=True, exist_ok=True)
            (repository / path).write_text(text)
        git(repository, "add", "--all", "--force")
        git(repository, "commit", "--quiet", "--message", message)
        git(repository, "tag", f"piece-{number}")
    git(repository, "format-patch", "--quiet", "--no-signature", "--zero-commit",
        "--output-directory", str(out.resolve() / "patches"), "unpatched")  # fmt: skip


def main(arguments=None):
    parser = argparse.ArgumentParser(description="Apply the pieces to scikit-learn 1.9.1.")
    parser.add_argument("source", type=Path, help="an sdist or a checkout")
    parser.add_argument("out", type=Path, help="a folder that does not exist yet")
    options = parser.parse_args(arguments)
    try:
        if options.out.exists():
            raise SeriesError(f"{options.out} exists already")
        read = source_reader(options.source)
        check_version(read)
        series = apply_series(read)
    except SeriesError as error:
        sys.exit(f"{options.source}: {error}")
    options.out.mkdir(parents=True)
    write_series(options.source, options.out, series)
    print(f"{len(series)} patches in {options.out / 'patches'}")


if __name__ == "__main__":
    main()
