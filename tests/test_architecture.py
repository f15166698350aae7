"""The limits that would otherwise be argued about in reviews: sizes, arrows, and what an import costs."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = ("runtime", "debugger_ui", "sample_graphs")
MODULE_LINES = 400
BODY_LINES = 40

MODULES = [path.relative_to(ROOT) for package in (*PACKAGES, "tests") for path in (ROOT / package).rglob("*.py")]


def functions(path: Path) -> Iterator[tuple[str, int]]:
    """Yield each function's name and the length of its body in lines, without its docstring."""
    for node in ast.walk(ast.parse((ROOT / path).read_text(encoding="utf-8"))):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        body = node.body[1:] if ast.get_docstring(node, clean=False) is not None else node.body
        if body:
            yield node.name, (body[-1].end_lineno or body[-1].lineno) - body[0].lineno + 1


def imports(path: Path) -> Iterator[tuple[ast.stmt, str]]:
    """Yield every import statement of a module, at any depth, with the full name of what it imports."""
    for node in ast.walk(ast.parse((ROOT / path).read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((node, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield from ((node, f"{node.module}.{alias.name}") for alias in node.names)


def test_there_is_something_to_measure():
    assert {path.parts[0] for path in MODULES} == {*PACKAGES, "tests"}


def test_no_module_is_longer_than_an_idea():
    sizes = {str(path): len((ROOT / path).read_text(encoding="utf-8").splitlines()) for path in MODULES}
    assert {path: lines for path, lines in sizes.items() if lines > MODULE_LINES} == {}


def test_no_function_is_longer_than_a_screen():
    bodies = {f"{path}:{name}": lines for path in MODULES for name, lines in functions(path)}
    assert {name: lines for name, lines in bodies.items() if lines > BODY_LINES} == {}


def test_the_arrows_between_modules_point_one_way():
    code = "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports(no_cache=True, no_logo=True))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("statement", "unwanted"),
    [
        (
            "import runtime.graph, runtime.checkpoint.memory",
            {"sqlalchemy", "pandas", "streamlit", "networkx", "graphviz"},
        ),
        ("import debugger_ui.session.session", {"streamlit", "pandas"}),
        ("import debugger_ui.cli", {"streamlit", "pandas", "runtime.graph"}),
    ],
)
def test_an_import_loads_nothing_that_it_does_not_need(statement, unwanted):
    code = f"{statement}; import sys; print(*sorted({unwanted!r} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_of_langgraph_only_the_checkpoint_distribution_is_imported_by_name():
    # import-linter sees `langgraph` as one package, but it is several distributions in one namespace.
    allowed = ("langgraph.checkpoint", "langgraph.store", "langgraph.cache")
    found = {
        f"{path}:{node.lineno} {name}"
        for path in MODULES
        if path.parts[0] in ("runtime", "sample_graphs")
        for node, name in imports(path)
        if name.split(".")[0] == "langgraph" and not name.startswith(allowed)
    }
    assert found == set()


def test_importing_the_runtime_loads_nothing_of_langgraph_itself():
    code = (
        "import runtime.graph, runtime.types, runtime.checkpoint.memory, sys;"
        "print(*sorted(name for name in sys.modules if name.startswith(('langgraph.graph', 'langgraph.pregel'))))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
