"""Opens what the command line names, or says in a sentence why it cannot be opened.

A graph on a database, the graphs of a project, the samples, or a database alone (looked at only).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from debugger_ui.engines.base import MISSING, Engine
from debugger_ui.engines.graph import About
from debugger_ui.engines.opening import attach, open_record, open_saver, runtime_of, shown_name
from debugger_ui.engines.surroundings import ContextError
from debugger_ui.session.files import check_database, is_url
from debugger_ui.session.problems import SessionError, describe, refuse
from debugger_ui.session.specs import CONFIG, FORM, Found, find, looks_compiled, project

DEMO = "demo"


@dataclass(frozen=True, slots=True)
class Loaded:
    """What was opened."""

    engines: Sequence[Engine]
    read_only: bool
    reason: str = ""
    file: Path | None = None


def load(
    target: str | None,
    *,
    database: str | None = None,
    read_only: bool = False,
    context: Mapping[str, Any] | None = None,
) -> Loaded:
    """Open a graph spec, a project folder, `demo`, or a database alone; `context` is for the runs of the graphs.

    Raises:
        SessionError: it cannot be opened.
    """
    if context is not None and (target in (None, DEMO) or _is_database(target)):
        raise refuse("A context is for the runs of a graph of your own; here is none that takes one.")
    if target == DEMO:
        return _demo(database, read_only)
    if target is None:
        return _record(database or "")
    path = Path(target)
    if path.is_dir() or path.name == CONFIG:
        folder = path if path.is_dir() else path.parent
        return _graphs(_found(project(path), folder), database, read_only, context)
    if _is_database(target):
        return _record(target)
    return _graphs([find(target)], database, read_only, context)


def _is_database(target: str) -> bool:
    path = Path(target)
    return path.is_file() and ":" not in target and path.name != CONFIG and path.suffix != ".py"


def _found(specs: Any, folder: Path) -> list[Found]:
    found = []
    for name, spec in specs.items():
        one = find(spec, folder.resolve())
        found.append(Found(spec, name, one.value, one.module))
    return found


def _graphs(found: Sequence[Found], database: str | None, read_only: bool, context: Mapping[str, Any] | None) -> Loaded:
    for one in found:
        need_compiled(one)
    if database is None:
        for one in found:
            _need_saver(one)
        own = "the graph's own checkpointer"
        return Loaded([_attached(one, None, own, context) for one in found], read_only)
    path = None if is_url(database) else check_database(database, may_be_new=not read_only)
    saver, why = _storage(database, path, read_only)
    engines = [_attached(one, saver, shown_name(database), context) for one in found]
    return Loaded(engines, read_only or bool(why), why, path)


def _attached(found: Found, saver: Any, database: str, context: Mapping[str, Any] | None) -> Engine:
    try:
        return attach(found.value, saver, _about(found, database), owned=saver is not None, context=context)
    except ContextError as error:
        raise refuse(f"The context does not fit {found.spec}: {error}", details=describe(error)) from error


def _storage(database: str, path: Path | None, read_only: bool) -> tuple[Any, str]:
    try:
        return open_saver(database if path is None else str(path), read_only=read_only)
    except Exception as error:  # a database can fail in many ways; the person needs the sentence, not the class
        raise refuse(
            f"{shown_name(database)} cannot be opened: {error}", kind="database", details=describe(error)
        ) from error


def _record(database: str) -> Loaded:
    path = None if is_url(database) else check_database(database)
    try:
        engine = open_record(database if path is None else str(path))
    except Exception as error:  # as above
        raise refuse(
            f"{shown_name(database)} cannot be opened: {error}", kind="database", details=describe(error)
        ) from error
    return Loaded([engine], True, "Only the database is open, without its graph.", path)


def _demo(database: str | None, read_only: bool) -> Loaded:
    from sample_graphs import SAMPLES
    from sample_graphs.recorded import record

    if database is None:
        raise refuse("The demo needs a file to keep its threads in; give one with --db FILE.", kind="database")
    path = check_database(database, may_be_new=True)
    if not path.exists():
        record(path)
    saver, why = _storage(str(path), path, read_only)
    engines = []
    for name, sample in SAMPLES.items():
        about = About(name=name, spec=sample.spec, database=str(path), shows=sample.shows, example=sample.example_input)
        engines.append(attach(sample.graph, saver, about, owned=True))
    return Loaded(engines, read_only or bool(why), why, path)


def _about(found: Found, database: str) -> About:
    example: Any = getattr(found.module, "example_input", getattr(found.module, "EXAMPLE_INPUT", MISSING))
    shows = getattr(found.module, "shows", "")
    return About(
        name=found.name,
        spec=found.spec,
        database=database,
        shows=shows if isinstance(shows, str) else "",
        example=example,
    )


def need_compiled(found: Found) -> None:
    """Refuse what is not a compiled graph, saying what it is and what is wanted."""
    value = found.value
    if looks_compiled(value):
        if runtime_of(value) is None:
            raise refuse(
                f"{found.spec} is a compiled graph of {type(value).__module__}, which the debugger does not know. "
                "Compile it with runtime.graph."
            )
        return
    raise refuse(f"{found.spec} is {what_is(value)}. {_wanted(value)}")


def what_is(value: Any) -> str:
    """Return what an object is, for a sentence."""
    if isinstance(value, type):
        return f"the class {value.__qualname__}"
    if callable(getattr(value, "compile", None)) and callable(getattr(value, "add_node", None)):
        return f"a {type(value).__name__} that has not been compiled"
    if callable(value) and hasattr(value, "__code__"):
        return f"the function {value.__name__}"
    if value is None:
        return "None"
    article = "an" if type(value).__name__[:1] in "aeiouAEIOU" else "a"
    return f"{article} {type(value).__name__}"


def _wanted(value: Any) -> str:
    if callable(getattr(value, "compile", None)) and callable(getattr(value, "add_node", None)):
        return "A compiled graph is wanted: write graph = builder.compile() and name that."
    if callable(value) and not isinstance(value, type):
        return "A compiled graph is wanted: call the function in the module, graph = make_graph(), and name the result."
    return f"A compiled graph is wanted, what StateGraph(...).compile() returns. Write {FORM}."


def _need_saver(found: Found) -> None:
    saver = getattr(found.value, "checkpointer", None)
    if saver is None or isinstance(saver, bool):
        raise refuse(
            f"{found.spec} has no checkpointer, so nothing of its runs is kept. Give a database with --db FILE, "
            "or compile it with one: builder.compile(checkpointer=...)."
        )


__all__ = ["Loaded", "SessionError", "load"]
