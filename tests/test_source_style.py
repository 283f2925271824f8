"""The shape of the source: sizes, one-way cimports, what must not be written."""

import ast
import re
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from each_file import each_file

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "fasttree"
SOURCES = sorted(
    path
    for path in PACKAGE.rglob("*")
    if path.suffix in (".py", ".pyx", ".pxd", ".hpp", ".h", ".cpp")
)
CPP = [path for path in SOURCES if path.suffix in (".hpp", ".h", ".cpp")]
CYTHON = [path for path in SOURCES if path.suffix in (".pyx", ".pxd")]
PYTHON = [path for path in SOURCES if path.suffix == ".py"]
MAX_FILE, MAX_FUNCTION, MAX_LINE = 500, 80, 100

each_source, each_cpp = each_file(SOURCES, ROOT), each_file(CPP, ROOT)
each_cython, each_python = each_file(CYTHON, ROOT), each_file(PYTHON, ROOT)


@each_file([*SOURCES, *(PACKAGE / "export/page").iterdir()], ROOT)
def test_files_are_small(path):
    assert len(path.read_text().splitlines()) <= MAX_FILE


@each_source
def test_lines_are_short(path):
    lines = path.read_text().splitlines()
    assert [i for i, line in enumerate(lines, 1) if len(line) > MAX_LINE] == []


@each_source
def test_nothing_is_left_open(path):
    text = path.read_text()
    assert not re.search(r"NotImplementedError|\b(TODO|FIXME|XXX)\b", text)


@each_python
def test_python_functions_are_short(path):
    long = {
        node.name: size
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef)
        and (size := node.end_lineno - _body_start(node)) > MAX_FUNCTION
    }
    assert long == {}


def _body_start(function):
    """The line after the docstring: documentation is not counted."""
    documented = ast.get_docstring(function) is not None
    return function.body[0].end_lineno if documented else function.lineno


@each_cython
def test_cython_functions_are_short(path):
    long = {name: size for name, size in functions_of(path.read_text()) if size > MAX_FUNCTION}
    assert long == {}


def functions_of(text):
    """(name, number of lines) of each Cython function: up to the next line indented no deeper."""
    lines = [line for line in text.splitlines() if line.strip()]
    header = re.compile(r"( *)(?:def|cdef(?! class)|cpdef)\b(?:\[[^]]*]|[^=:([])*?\b(\w+)\(")
    for start, line in enumerate(lines):
        found = header.match(line)
        if not found or line.endswith(")"):
            continue
        indent = len(found[1])
        end = start + 1
        while end < len(lines) and (
            len(lines[end]) - len(lines[end].lstrip()) > indent
            or lines[end].lstrip().startswith(")")
        ):
            end += 1
        yield found[2], end - start


def test_functions_of_cython_are_found():
    """The reader of the test above, on a function whose arguments take three lines, one whose type
    has colons, and one with default values."""
    text = "cdef int f(\n    int a,\n) noexcept nogil:\n    return a\n\ndef g(x):\n    return x\n"
    text += "cdef const double[:, ::1] h(self):\n    return x\ndef i(x=1, y={2: 3}):\n    pass\n"
    assert dict(functions_of(text)) == {"f": 4, "g": 2, "h": 2, "i": 2}


@each_cpp
def test_cpp_functions_are_short(path):
    long = {name: size for name, size in cpp_functions_of(path.read_text()) if size > MAX_FUNCTION}
    assert long == {}


def cpp_functions_of(text):
    """(name, number of lines) of each C++ function: a block, not in another, after arguments."""
    text = re.sub(r"//[^\n]*|^#(?:[^\n]*\\\n)*[^\n]*", "", text, flags=re.MULTILINE)
    scope = r"\s*(?:template\s*<[^{}]*>\s*)?(?:inline\s+)?(?:namespace|class|struct|enum|extern)\b"
    depth, since, opened = 0, 0, None  # of function blocks; where a declaration begins
    for mark in re.finditer(r"[{};]", text):
        if mark[0] == "{":
            declaration = text[since : mark.start()]
            is_function = re.search(r"\)[^()]*$", declaration) and not re.match(scope, declaration)
            if depth > 0 or is_function:
                if depth == 0:
                    opened = declaration.lstrip()
                    start = mark.start() - len(opened)
                depth += 1
        elif mark[0] == "}" and depth > 0:
            depth -= 1
            if depth == 0:
                name = re.search(r"([~\w]+|operator\S+)\s*\(", opened)
                yield name[1] if name else opened, text.count("\n", start, mark.start()) + 1
        if depth == 0:
            since = mark.end()


def test_functions_of_cpp_are_found():
    """The reader of the test above, on functions in a class, a template and an initialiser list."""
    text = """namespace a {
    class B : public C {
        int x_{0};  // {
        explicit B(int x) : x_(x) {}
        bool f(int a,
               int b) const noexcept {
            if (a) { return [&] { return b; }(); }
        }
    };
    template <class T>
    T g(T x) {
        return x;
    }
    }
    """
    assert list(cpp_functions_of(text)) == [("B", 1), ("f", 4), ("g", 4)]


@each_cpp
def test_nothing_is_cast_at_run_time(path):
    """What a class can do is asked of its interface."""
    assert "dynamic_cast" not in path.read_text()


@each_cpp
def test_threads_start_in_one_place(path):
    """`utils/_threads.hpp` starts them, so that errors, interrupts and limits are the same for all;
    in Cython `prange` and `parallel` do."""
    if path.name != "_threads.hpp":
        assert not re.search(r"#pragma omp|omp\.h|std::(j?thread|async)\b", path.read_text())


@each_cpp
def test_the_machine_is_asked_for_its_instructions_in_one_place(path):
    if path.name != "simd.hpp":
        assert "__builtin_cpu" not in path.read_text()


def cimports(path):
    """Modules of fasttree that a Cython file cimports, and those of other packages."""
    text = path.read_text()
    names = re.findall(r"^\s*from\s+([.\w]+)\s+cimport|^\s*cimport\s+([.\w]+)", text, re.MULTILINE)
    return [a or b for a, b in names]


def test_cimports_run_one_way():
    """A module is its .pxd and .pyx together."""
    graph = {}
    for path in CYTHON:
        package = path.relative_to(ROOT).with_suffix("").parts
        module = ".".join(package)
        for name in cimports(path):
            if name.startswith("."):
                up = len(name) - len(name.lstrip("."))
                name = ".".join([*package[:-up], name.lstrip(".")])
            if name != module:
                graph.setdefault(module, set()).add(name)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(f"cimports in a circle: {' -> '.join(error.args[1])}")


@each_cython
def test_nothing_compiled_is_taken_from_scikit_learn(path):
    """Its extension types change size between releases."""
    assert [name for name in cimports(path) if name.split(".")[0] == "sklearn"] == []


@each_cython
def test_cython_imports_nothing_of_scikit_learn(path):
    assert re.findall(r"^\s*(?:from|import)\s+sklearn.*", path.read_text(), re.MULTILINE) == []


@each_python
def test_private_helpers_of_scikit_learn_come_through_one_door(path):
    if path.name != "_sklearn_compat.py":
        names = imported_names(path.read_text())
        assert [n for n in names if n.startswith("sklearn.") and "._" in n] == []


def imported_names(text):
    """Dotted names of everything a Python file imports, wherever it does."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and node.level == 0:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def test_imported_names_are_found():
    text = "import a\ndef f():\n    from sklearn.b import _c, d\n"
    assert list(imported_names(text)) == ["a", "sklearn.b._c", "sklearn.b.d"]


def test_map_of_the_package_names_every_module():
    """fasttree/tree/README.rst is kept true."""
    text = (PACKAGE / "tree" / "README.rst").read_text()
    named = {path.stem for path in (PACKAGE / "tree").iterdir() if path.suffix in (".py", ".pyx")}
    assert {name for name in named - {"__init__"} if name not in text} == set()
