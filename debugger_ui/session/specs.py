"""From `pkg.module:attr`, `file.py:attr` or a langgraph.json to the objects that are meant.

The current folder goes to the end of the import path, after our own packages have been imported, so
nothing of the user's can take their place; where the user has packages of the same names, a failing
import says so.
"""

import difflib
import importlib
import importlib.util
import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import debugger_ui
import runtime
from debugger_ui.session.problems import describe, refuse, said, trace

OURS = {"runtime": runtime, "debugger_ui": debugger_ui}
CONFIG = "langgraph.json"
FORM = "package.module:attribute, for example app.graph:graph"


@dataclass(frozen=True, slots=True)
class Found:
    """An object that a spec led to, with the module around it."""

    spec: str
    name: str
    value: Any
    module: ModuleType


def find(spec: str, folder: Path | None = None) -> Found:
    """Import what a spec names.

    Raises:
        SessionError: it is not a spec, the module does not import, or has no such attribute.
    """
    where, colon, attribute = spec.rpartition(":")
    if not colon or not where or not attribute:
        raise refuse(f"{spec!r} does not name a graph. Write {FORM}.")
    folder = folder or Path.cwd()
    module = _from_file(where, folder) if where.endswith(".py") else _by_name(where, folder)
    value: Any = module
    for part in attribute.split("."):
        value = _attribute(value, part, where, attribute)
    return Found(spec, attribute, value, module)


def _attribute(value: Any, part: str, where: str, attribute: str) -> Any:
    if hasattr(value, part):
        return getattr(value, part)
    names = [name for name in dir(value) if not name.startswith("_")]
    near = difflib.get_close_matches(part, names, n=3)
    graphs = [name for name in names if looks_compiled(getattr(value, name, None))]
    hint = f" Did you mean {' or '.join(near)}?" if near else ""
    if graphs and not set(graphs) & set(near):
        hint += f" It has the compiled graphs {', '.join(graphs)}."
    raise refuse(f"{where} has no {attribute!r}.{hint}")


def looks_compiled(value: Any) -> bool:
    """Whether an object has what a compiled graph has."""
    names = ("get_state", "get_state_history", "update_state", "stream", "get_graph")
    return not isinstance(value, type) and all(callable(getattr(value, name, None)) for name in names)


def _by_name(name: str, folder: Path, shown: str = "") -> ModuleType:
    if not all(part.isidentifier() for part in name.split(".")):
        raise refuse(f"{name!r} is not the name of a module. Write {FORM}.")
    _reach(folder)
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and (name == error.name or name.startswith(f"{error.name}.")):
            raise refuse(f"There is no module {error.name!r}, looked for also in {folder}.{_clash(folder)}") from None
        raise _failing(shown or name, error, folder) from error
    except (Exception, SystemExit) as error:
        # The user's module may raise anything while it is imported, or try to leave.
        raise _failing(shown or name, error, folder) from error


def _from_file(where: str, folder: Path) -> ModuleType:
    path = (folder / where).resolve()
    if not path.is_file():
        raise refuse(f"There is no file {path}.")
    _reach(folder)
    if (dotted := _dotted(path, folder.resolve())) is not None:
        return _by_name(dotted, folder, where)
    name = _free_name(path)
    loader = importlib.util.spec_from_file_location(name, path)
    if loader is None or loader.loader is None:
        raise refuse(f"{path} cannot be imported as Python.")
    module = importlib.util.module_from_spec(loader)
    sys.modules[name] = module
    try:
        loader.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        raise _failing(where, error, folder) from error
    return module


def _dotted(path: Path, folder: Path) -> str | None:
    """Return the name by which the project's own code imports a file, or None where there is no such name.

    Stored values name their classes by module: under another name, those that the project saved would not come
    back as objects here, nor those saved here there. Templates keep their packages in `src`.
    """
    for root in (folder / "src", folder):
        if not path.is_relative_to(root):
            continue
        parts = path.relative_to(root).with_suffix("").parts
        parts = parts[:-1] if parts[-1] == "__init__" else parts
        if not parts or not all(part.isidentifier() for part in parts):
            continue
        _reach(root)
        if _leads_to(parts[0], root / parts[0] if len(parts) > 1 or path.name == "__init__.py" else path):
            return ".".join(parts)
    return None


def _leads_to(name: str, place: Path) -> bool:
    """Whether importing a top-level name would come to that file or folder, and not to another of the name."""
    try:
        spec = importlib.util.find_spec(name)
    except ValueError:  # a module that was made by hand has that name
        return False
    if spec is None:
        return False
    found = [*(spec.submodule_search_locations or ()), spec.origin or ""]
    return os.path.realpath(place) in [os.path.realpath(one) for one in found if one]


def _free_name(path: Path) -> str:
    """Return a module name for a file that has none: its own, since modules of equal names mix up their types."""
    name, number = f"forkpoint_user_{path.stem}", 1
    while (taken := sys.modules.get(name)) is not None and getattr(taken, "__file__", None) != str(path):
        number += 1
        name = f"forkpoint_user_{path.stem}_{number}"
    return name


def _reach(folder: Path) -> None:
    place = str(folder)
    if place not in sys.path:
        sys.path.append(place)
    importlib.invalidate_caches()


def _failing(name: str, error: BaseException, folder: Path) -> Exception:
    message = f"Importing {name} raised {said(error)}.{_clash(folder)}"
    return refuse(message, details=f"{describe(error)}\n\n{trace(error)}")


def _clash(folder: Path) -> str:
    """Return a sentence about packages of the user's that have our names; "" when there are none."""
    found = []
    for name, ours in OURS.items():
        own = Path(os.path.realpath(ours.__file__ or ""))
        for place in (folder / f"{name}.py", folder / name / "__init__.py"):
            if place.exists() and Path(os.path.realpath(place)) not in (own, own.parent):
                found.append(
                    f" Your folder has its own {name!r} at top level, but the"
                    f" debugger's package {name!r} takes its place here; rename yours, or put it inside a package."
                )
                break
    return "".join(found)


def project(folder: Path) -> Mapping[str, str]:
    """Return the graphs of a langgraph.json: name to spec.

    Raises:
        SessionError: there is none, or it does not say which graphs there are.
    """
    file = folder if folder.name == CONFIG else folder / CONFIG
    if not file.is_file():
        raise refuse(f"{folder} has no {CONFIG}. Give a graph instead: {FORM}.")
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise refuse(f"{file} cannot be read: {error}.") from None
    graphs = content.get("graphs") if isinstance(content, Mapping) else None
    if not isinstance(graphs, Mapping) or not graphs:
        raise refuse(f'{file} names no graphs; it needs "graphs": {{"name": "./file.py:graph"}}.')
    specs = {}
    for name, entry in graphs.items():
        spec = entry.get("path") if isinstance(entry, Mapping) else entry
        if not isinstance(spec, str):
            raise refuse(f'{file}: the graph {name!r} has no path; write it as "./file.py:graph".')
        specs[str(name)] = spec
    return specs
