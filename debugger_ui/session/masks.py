"""Masked keys: values that are never shown or exported, and that stay in the database as they are.

Rules:
- Whatever the session reads to show goes through `Reading`, and `Reading` gives records that have been
  through `Masks.record`. So a view, a search or an export can only be made of what is left.
- Masking fails closed: what cannot be looked into (undecoded bytes, endless nesting, a file of masks
  that cannot be read) is masked or refused, never shown.
- Only edits and runs read the values themselves, and write them back untouched.
"""

import fnmatch
import re
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields, replace
from functools import lru_cache
from pathlib import Path as FilePath
from typing import Any

from debugger_ui.engines import naming
from debugger_ui.engines.base import MISSING, Failure, Fold, Question, Record, Task
from debugger_ui.session.beside import Beside
from debugger_ui.session.problems import refuse
from debugger_ui.session.secrets import Secrets
from debugger_ui.session.veil import Veil, Walk
from debugger_ui.session.view_values import MaskView, Path, Problem

SUFFIX = ".forkpoint-masks.json"
MAX_PATTERN = 400
WITHOUT_VALUES = (
    "id",
    "name",
    "path",
    "triggers",
    "done",
    "supplied",
    "refused",
    "attempts",
    "milliseconds",
    "namespace",
)
"""Parts of a task that say what it is and how it went, and are shown as they are."""
WHOLE: Path = (naming.ROOT,)
"""Where a state stands that is one value, and what may be such a state: an input, or what a function keeps."""


class Masks:
    """The masked keys of a workspace, as patterns.

    A pattern is a key (`api_key`) or a path (`user.token`, `messages.*.content`): it masks what it names
    wherever that stands, at the top of the state or inside of something. In a part, `*`, `?` and `[...]`
    stand for characters; a part that is `*` alone stands for any parts, also for none.
    """

    def __init__(self, given: Iterable[str] = (), file: FilePath | None = None, *, keep: bool = True) -> None:
        """`given` hold as long as this object; those in `file` are read, and written if `keep`."""
        self.keep = keep
        self.problem = ""
        """Why what is masked lasts only as long as the program, in a sentence; else empty."""
        self._lock = threading.Lock()
        self._given = tuple(dict.fromkeys(map(checked, given)))
        self._beside = Beside(file) if file is not None else None
        self._kept: tuple[str, ...] = ()
        self._secrets = Secrets()
        self._look()

    @property
    def patterns(self) -> tuple[str, ...]:
        """All patterns: those given for good first. What another program masks meanwhile is masked here too."""
        self._look()
        return tuple(dict.fromkeys([*self._given, *self._kept]))

    def views(self) -> tuple[MaskView, ...]:
        """Return the patterns, with whether they can be taken away."""
        return tuple(MaskView(pattern, fixed=pattern in self._given) for pattern in self.patterns)

    def add(self, pattern: str) -> None:
        """Mask what a pattern names.

        Raises:
            SessionError: it is empty or too long.
        """
        pattern = checked(pattern)
        with self._lock:
            if pattern not in self.patterns:
                self._change(lambda known: [*known, pattern])

    def remove(self, pattern: str) -> None:
        """Show again what a pattern names; an unknown one is already gone.

        Raises:
            SessionError: it was given when the program was started.
        """
        if pattern in self._given:
            raise refuse(f"{pattern!r} was masked with --mask; start without it to see the values.")
        with self._lock:
            if pattern in self._kept:
                self._change(lambda known: [one for one in known if one != pattern])

    # --- values -------------------------------------------------------------------------------

    def hides(self, path: Path) -> bool:
        """Whether a path is masked itself."""
        return bool(path) and matcher(self.patterns)(".".join(map(str, path)))

    def apply(self, path: Path, value: Any) -> Any:
        """Return a value as it may be shown where its path leads: its masked parts are `Masked`.

        A value without masked parts comes back as the very object it is.
        """
        return self.veil(path, value).shown

    def veil(self, path: Path, value: Any) -> Veil:
        """Return the value as it may be shown, with the way back to what it is."""
        patterns = self.patterns
        if not patterns:
            return Veil(value)
        walk = self._walk(patterns)
        return Veil(walk.value(path, value), walk.originals)

    def _walk(self, patterns: tuple[str, ...]) -> Walk:
        return Walk(matcher(patterns), self._secrets.add)

    def record(self, record: Record) -> Record:
        """Return a record of which everything may be shown."""
        if not (patterns := self.patterns):
            return record
        # One walk for all: the state, the channels and what tasks were given are mostly the same objects.
        walk = self._walk(patterns)
        return replace(
            record,
            header=replace(record.header, metadata=walk.value((), dict(record.header.metadata))),
            state={key: walk.value((key,), value) for key, value in record.state.items()},
            channels={name: _channel(walk, name, value) for name, value in record.channels.items()},
            tasks=tuple(self._task(walk, task, _given(patterns)) for task in record.tasks),
            problems=tuple(map(self.clean, record.problems)),
        )

    def _task(self, walk: Walk, task: Task, given: Path) -> Task:
        """Mask every part of a task that may hold a value, also parts that are not thought of here.

        `given` is where what it was given is in the state.
        """
        parts = {field.name: self._part(walk, getattr(task, field.name)) for field in fields(task)}
        writes = tuple((channel, walk.value(_path_of(channel), value)) for channel, value in task.writes)
        known = {name: getattr(task, name) for name in WITHOUT_VALUES}
        if task.input is not MISSING:
            known["input"] = walk.value(given, task.input)
        return Task(**{**parts, **known, "writes": writes})

    def _part(self, walk: Walk, part: Any) -> Any:
        if part is MISSING or part is None:
            return part
        if isinstance(part, Failure):
            return self._failure(part)
        if isinstance(part, tuple) and part and all(isinstance(one, Question) for one in part):
            return tuple(replace(asked, value=walk.value((), asked.value)) for asked in part)
        return walk.value((), part)

    def _failure(self, failure: Failure) -> Failure:
        return Failure(failure.type, self.clean(failure.message), self.clean(failure.traceback))

    def fold(self, fold: Fold) -> Fold:
        """Return how a channel folds, with values that may be shown."""
        if not (patterns := self.patterns):
            return fold
        walk = self._walk(patterns)

        def shown(value: Any) -> Any:
            return value if value is MISSING else _channel(walk, fold.channel, value)

        steps = tuple(replace(step, value=shown(step.value), after=shown(step.after)) for step in fold.steps)
        before, after = shown(fold.before), shown(fold.after)
        return replace(fold, before=before, steps=steps, after=after, refused=self.clean(fold.refused))

    # --- sentences ----------------------------------------------------------------------------

    def clean(self, text: str) -> str:
        """Return a text that is not ours (an exception's words) without any masked value met so far."""
        return self._secrets.clean(text) if text and self.patterns else text

    def problem_of(self, problem: Problem) -> Problem:
        """Return a problem without any masked value met so far."""
        if not self.patterns:
            return problem
        return replace(problem, message=self.clean(problem.message), details=self.clean(problem.details))

    # --- the file -----------------------------------------------------------------------------

    def _look(self) -> None:
        """Read the file if it has changed.

        Raises:
            SessionError: it cannot be read; showing everything then would show what somebody masked.
        """
        if self._beside is None:
            return
        try:
            rows = self._beside.news()
            if rows is not None:
                self._kept = _texts(rows)
        except (OSError, ValueError) as error:
            raise refuse(
                f"{self._beside.file.name} says which keys are masked and cannot be read ({error}). Mend it or take it "
                "away: until then nothing is shown, since it might be what should not be.",
                kind="database",
            ) from None

    def _change(self, change: Callable[[list[Any]], list[Any]]) -> None:
        if self._beside is None or not self.keep:
            self._kept = _texts(change(list(self._kept)))
            return
        try:
            self._kept = _texts(self._beside.change(lambda rows: change(list(_texts(rows)))))
        except (OSError, ValueError) as error:
            self._beside = None
            self._kept = _texts(change(list(self._kept)))
            self.problem = f"What is masked here lasts only as long as this program: {error}."


def _texts(rows: list[Any]) -> tuple[str, ...]:
    if not all(isinstance(row, str) for row in rows):
        raise ValueError("a list of texts is wanted")
    return tuple(dict.fromkeys(map(checked, rows)))


def _channel(walk: Walk, name: str, value: Any) -> Any:
    """Return a channel's value. What wakes nodes stays as it is; what it carries (inputs, Sends) does not."""
    if name == naming.TASKS and isinstance(value, (list, tuple)):
        return [walk.value((), send) for send in value]
    path = _path_of(name)
    return walk.value(path, value) if path else value


@lru_cache(maxsize=64)
def _given(patterns: Sequence[str]) -> Path:
    """Return where a task's input is: the state by its keys, or a state that is one value if a pattern means that."""
    means_root = matcher(patterns)(naming.ROOT) or any(naming.ROOT in pattern for pattern in patterns)
    return WHOLE if means_root else ()


def _path_of(channel: str) -> Path:
    """Return where what stands on a channel is in the state; of what is no state, and carries none, ()."""
    if channel in (naming.START, naming.PREVIOUS):
        return WHOLE
    key = naming.key_of(channel)
    return (key,) if naming.is_state_key(key) else ()


def beside(database: FilePath | None) -> FilePath | None:
    """Return the file of masks that belongs to a database file."""
    return None if database is None else database.with_name(database.name + SUFFIX)


def checked(pattern: str) -> str:
    """Return a pattern without blanks around it, or refuse it."""
    pattern = pattern.strip()
    if not pattern or len(pattern) > MAX_PATTERN or not pattern.strip(".*"):
        raise refuse(
            "Name the key to mask: a key (api_key), a path (user.token) or a pattern (messages.*.content).",
            field="mask",
        )
    return pattern


def pattern_for(key: str) -> str:
    """Return the pattern that masks exactly this key, whatever characters are in it."""
    return re.sub(r"([*?[\s])", r"[\1]", key)


@lru_cache(maxsize=64)
def matcher(patterns: Sequence[str]) -> Callable[[str], bool]:
    """Return whether a path, its parts joined by dots, is masked."""
    if not patterns:
        return lambda path: False
    whole = re.compile("|".join(f"(?:{_expression(pattern)})" for pattern in patterns), re.DOTALL)
    return lambda path: whole.fullmatch(path) is not None


def _expression(pattern: str) -> str:
    parts = pattern.split(".")
    pieces = [r"(?:.*\.)?"]
    for place, part in enumerate(parts):
        last = place == len(parts) - 1
        if part and not part.strip("*"):
            pieces.append(".+" if last else r"(?:.*\.)?")
        else:
            pieces.append(_translated(part) + ("" if last else r"\."))
    return "".join(pieces)


def _translated(part: str) -> str:
    # `(?s:...)\Z` or `\z`, by version: the inner part is what stands between.
    return fnmatch.translate(part).removeprefix("(?s:").rpartition(")")[0]
