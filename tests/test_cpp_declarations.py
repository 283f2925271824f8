"""What Cython is told of C++ that throws: an exception it does not expect ends the process.

Every declaration says ``except +`` or ``noexcept``; of the latter the compiler makes sure, for the
C++ side says so too. What Cython does of its own accord, outside any ``try``, must not throw.
"""

import re
from pathlib import Path
from typing import NamedTuple

from each_file import each_file

PACKAGE = Path(__file__).resolve().parent.parent / "fasttree"
CYTHON = sorted([*PACKAGE.rglob("*.pyx"), *PACKAGE.rglob("*.pxd")])
HEADERS = "\n".join(path.read_text() for path in sorted(PACKAGE.rglob("*.hpp")))

each_cython = each_file(CYTHON, PACKAGE)


class Declaration(NamedTuple):
    """A function or method that is defined elsewhere."""

    header: str
    owner: str  # class, or ""
    name: str
    arguments: str
    tail: str  # what follows the arguments

    @property
    def is_constructor(self):
        return self.name == self.owner


def blocks(text, opening):
    """(match, lines deeper indented) of every line that the pattern opens a block with."""
    lines = text.splitlines()
    for start, line in enumerate(lines):
        found = re.match(opening, line)
        if not found:
            continue
        indent = len(line) - len(line.lstrip())
        body = []
        for below in lines[start + 1 :]:
            if below.strip() and len(below) - len(below.lstrip()) <= indent:
                break
            body.append(re.sub(r"  #.*|^\s*#.*", "", below))
        yield found, body


def externs(text):
    """(header, body) of every block of things defined elsewhere."""
    for found, body in blocks(text, r'cdef extern from (?:"(.+?)"|\*)'):
        yield found[1], "\n".join(body)


def declarations(text):
    for header, body in externs(text):
        methods = []
        for found, lines in blocks(body, r"\s+(?:cdef )?(?:cppclass|struct) (\w+)"):
            methods += [(found[1], line) for line in statements("\n".join(lines))]
        inside = {line for _, line in methods}
        functions = [("", line) for line in statements(body) if line not in inside]
        for owner, line in methods + functions:
            found = re.match(r"[^(]*?\b(\w+)(?: \"([\w:]+)\")?(?:\[\w+\])?\((.*)\)([^()]*)$", line)
            if found and "(*" not in line and not line.endswith(":"):
                name = found[2].split("::")[-1] if found[2] else found[1]
                yield Declaration(header, owner, name, found[3], found[4].strip())


def statements(text):
    """Statements on one line each, without their indentation."""
    open_ = ""
    for line in text.splitlines():
        open_ = f"{open_} {line.strip()}".strip()
        if open_ and open_.count("(") == open_.count(")"):
            yield open_
            open_ = ""


def classes():
    """Classes and structs of our headers that Cython knows."""
    for path in CYTHON:
        for header, body in externs(path.read_text()):
            if header and not header.startswith("<"):
                yield from re.findall(r"(?:cppclass|struct) (\w+)", body)


EXAMPLE = """
cdef extern from "a.hpp" namespace "n" nogil:
    struct P:
        bint (*call)(int x) noexcept
    cdef cppclass A(B):
        int field  # counts(things)
        A(int x) except +
        void f "n::g"(const int* a,
                      int b) noexcept
    T h[T](T x)

cdef int not_extern(int x):
    return x
"""


def test_reader_of_declarations():
    found = list(declarations(EXAMPLE))
    assert [(d.owner, d.name, d.tail) for d in found] == [
        ("A", "A", "except +"),
        ("A", "g", "noexcept"),
        ("", "h", ""),
    ]
    assert found[0].is_constructor


def test_declarations_are_found():
    found = {d.name for path in CYTHON for d in declarations(path.read_text())}
    assert {
        "vector",
        "push_back",
        "make_searcher_by",
        "look_at_drawn",
        "solve",
        "split_rows",
    } <= found


@each_cython
def test_every_declaration_says_whether_it_throws(path):
    silent = [
        d for d in declarations(path.read_text()) if not re.match("except|noexcept|const e", d.tail)
    ]
    assert silent == []


@each_cython
def test_constructors_that_are_given_something_may_throw(path):
    """Whatever they do, ``new`` asks for memory first."""
    assert [
        d
        for d in declarations(path.read_text())
        if d.is_constructor and d.arguments and not d.tail.startswith("except +")
    ] == []


def test_what_new_makes_has_a_constructor_that_may_throw():
    """``new`` asks for memory before the constructor runs, whatever that one does."""
    made = {name for path in CYTHON for name in re.findall(r"\bnew (\w+)\(", path.read_text())}
    assert "Stack" in made
    assert [
        d
        for path in CYTHON
        for d in declarations(path.read_text())
        if d.is_constructor and d.name in made and not d.tail.startswith("except +")
    ] == []


@each_cython
def test_what_is_said_not_to_throw_is_noexcept_in_cpp(path):
    for d in declarations(path.read_text()):
        if d.header is None or not d.header.endswith(".hpp") or not d.tail.startswith("noexcept"):
            continue
        if d.is_constructor:
            assert d.name in classes_that_are_values(), d
            continue
        header = (PACKAGE / d.header).read_text()
        signature = rf"\b{d.name}\([^()]*\)(?: const)? noexcept\b"
        assert re.search(signature, header), d


def classes_that_are_values():
    """Classes of which the compiler makes sure that Cython may keep them: see `_value.hpp`."""
    return set(re.findall(r"\bis_value<(\w+)", HEADERS))


def kept_by_value(text):
    """Classes of variables, fields of extension types and results."""
    yield from re.findall(r"^ *cdef (?:const )?(\w+)(?:\[\w+\])? \w+(?:\s*=.*|,.*)?$", text, re.M)
    for _, body in externs(text):
        yield from re.findall(r'^ *(\w+)(?:\[\w+\])? \w+(?: "[\w:]+")?\(', body, re.M)


@each_cython
def test_values_that_cython_keeps_do_not_throw(path):
    kept = set(kept_by_value(path.read_text())) & set(classes())
    assert kept - classes_that_are_values() == set()


@each_cython
def test_the_library_of_cpp_comes_through_one_door(path):
    """The declarations that come with Cython leave out what allocates."""
    names = re.findall(r"^from libcpp\S* cimport .*|^cimport libcpp.*", path.read_text(), re.M)
    harmless = {"from libcpp cimport bool as cbool", "from libcpp.utility cimport move"}
    assert set(names) - harmless == set()


@each_cython
def test_vectors_are_not_copied_by_assignment(path):
    """Cython does not expect that a copy may throw."""
    text = path.read_text()
    contract = path.with_suffix(".pxd")
    declared = text + (contract.read_text() if contract.exists() else "")
    found = re.findall(r"^ *cdef vector\[.+?\]+ (\w+(?:, \w+)*)$", declared, re.M)
    names = "|".join(name for names in found for name in names.split(", "))
    copy = rf"^ *(?:cdef vector\S+ )?(?:[\w.]+\.)?(?:{names}) = (?:[\w.]+\.)?(?:{names})$"
    assert not names or re.findall(copy, text, re.M) == []


@each_cython
def test_functions_that_cannot_raise_call_nothing_that_throws(path):
    """The exception would be printed and forgotten."""
    known = [d for p in CYTHON for d in declarations(p.read_text())]
    throwing = {d.name for d in known if d.tail.startswith("except +")}
    throwing -= {d.name for d in known if d.tail.startswith("noexcept")}
    text = path.read_text()
    for head in re.finditer(r"^( *)cdef [^=()]*?(\w+)\([^()]*\)\s*noexcept.*:\n", text, re.M):
        body = re.match(rf"(?:{head[1]} +.*\n|\n)*", text[head.end() :])[0]
        assert set(re.findall(r"\.(\w+)\(", body)) & throwing == set(), head[2]
