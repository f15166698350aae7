"""Edits: state keys as text, what an edit would do, and saving it as a branch. Nothing runs."""

from collections.abc import Mapping, Sequence
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin

from debugger_ui.engines import naming
from debugger_ui.engines.base import MISSING, Change, ChannelSpec, Editor, Preview
from debugger_ui.session.codec import restore, to_text
from debugger_ui.session.declared import as_declared
from debugger_ui.session.diff import equal
from debugger_ui.session.messages import holds_messages, new_messages
from debugger_ui.session.parse import MAX_CHARS, parse_json
from debugger_ui.session.problems import SessionError, describe, refuse, said, storage_problem
from debugger_ui.session.reading import Reading, Spot
from debugger_ui.session.render import USUAL, view
from debugger_ui.session.shape import blank, kind_of, type_name
from debugger_ui.session.text import literal
from debugger_ui.session.view_actions import Edit, EditField, EditForm, EditOutcome, EditPreview
from debugger_ui.session.view_values import Problem, ValueView
from runtime.checkpoint.errors import CheckpointStorageError
from runtime.errors import text_of

DECLARED = (list, dict, str, int, float, bool, tuple, set, frozenset, NoneType)
"""Declared types that an edit is held to."""
EXAMPLES = {
    list: "[...]",
    dict: "{...}",
    str: "a text in double quotes",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    NoneType: "null",
}


class Edits:
    """Editing at one checkpoint.

    Masked parts of a value are shown as a mark; where the mark is left, the value stays as it is.
    """

    def __init__(self, reading: Reading, editor: Editor, spot: Spot) -> None:
        self.engine = engine = reading.engine
        self.masks = reading.masks
        self.editor = editor
        self.spot = spot
        self.record = reading.real(spot)
        specs = engine.channels(spot.namespace)
        self.specs = {naming.key_of(name): spec for name, spec in specs.items() if spec.state_key}

    def form(self) -> EditForm:
        """Return the state keys as text, and the authors."""
        return EditForm(
            fields=tuple(self._field(key) for key in dict.fromkeys([*self.specs, *self.record.state])),
            authors=self.authors(),
            author=self.editor.author(self.spot.place),
            base=self.record.header.id,
        )

    def authors(self) -> tuple[str, ...]:
        """Return the nodes that an edit can be written as."""
        nodes = self.engine.topology(self.spot.thread, self.spot.namespace).nodes
        return tuple(node.id for node in nodes if node.kind not in ("start", "end"))

    def _field(self, key: str) -> EditField:
        spec = self.specs.get(key)
        value = self.masks.apply((key,), self.record.state.get(key, MISSING))
        reducer = spec.reducer if spec else ""
        declared = _annotated(spec)
        if value is MISSING:
            return EditField(key, "", declared, reducer, editable=True, empty=True)
        kind = declared or literal(type_name(value))
        if kind_of(value) in ("object", "table", "opaque"):
            why = f"A {literal(type_name(value))} cannot be written as JSON; it stays as it is."
            return EditField(key, "", kind, reducer, editable=False, reason=why)
        try:
            text = to_text(value)
        except (ValueError, RecursionError) as error:
            return EditField(key, "", kind, reducer, editable=False, reason=f"{error} It stays as it is.")
        if len(text) > MAX_CHARS:
            why = f"Its JSON is {len(text):,} characters long; the editor takes up to {MAX_CHARS:,}."
            return EditField(key, "", kind, reducer, editable=False, reason=why)
        return EditField(key, text, kind, reducer, editable=True, masked=kind_of(value) == "masked")

    def changes(self, edits: Sequence[Edit]) -> list[Change]:
        """Return what was typed as values of the right types.

        Raises:
            SessionError: the first edit that does not parse or fit.
        """
        keys = [edit.key for edit in edits]
        if twice := next((key for key in keys if keys.count(key) > 1), ""):
            raise refuse(f"The key {twice!r} is edited twice.", field=twice)
        return [self._change(edit) for edit in edits]

    def _change(self, edit: Edit) -> Change:
        append = self._reduces(edit.key) and edit.mode == "append"
        old = self.record.state.get(edit.key, MISSING)
        plain = parse_json(edit.text, edit.key)
        return Change(edit.key, self._value(edit.key, plain, old, append=append), append)

    def result(self, given: Mapping[str, Any]) -> Any:
        """Return what was typed as a task's result, as its node would have returned it.

        A value takes its classes from what the state declares, from what stands there, or from what another task
        of the superstep wrote.

        Raises:
            SessionError: the first key that the state does not have, or value that does not fit.
        """
        made: dict[str, Any] = {}
        for name, plain in given.items():
            key = naming.key_of(name)
            append = self._reduces(key)
            old = self.record.state.get(key, MISSING)
            if old is MISSING or blank(old) or old == []:
                written = (value for task in self.record.tasks for channel, value in task.writes if channel == key)
                old = next(written, old)
            made[key] = self._value(key, plain, old, append=append)
        whole = naming.ROOT in made and naming.one_value(self.engine.channels(self.spot.namespace))
        return made[naming.ROOT] if whole else made

    def _reduces(self, key: str) -> bool:
        """Whether a key has a reducer; refuse one that the state does not have."""
        if key not in self.specs and key not in self.record.state:
            known = ", ".join(sorted(self.specs)) or "none"
            raise refuse(f"The state has no key {key!r}; its keys are {known}.", field=key)
        spec = self.specs.get(key)
        return bool(spec and spec.reducer)

    def _value(self, key: str, plain: Any, old: Any, *, append: bool) -> Any:
        spec = self.specs.get(key)
        # What is appended is new, except that it takes its class from what it is appended to.
        shown = self.masks.veil((key,), None if old is MISSING or append else old)
        value = restore(plain, shown.shown, (key,), shown.real)
        value = self._typed(value, old, spec, append=append)
        value = as_declared(value, spec.annotation if spec else MISSING, (key,))
        return self._check(key, value, old, spec, append=append)

    def _typed(self, value: Any, old: Any, spec: ChannelSpec | None, *, append: bool) -> Any:
        annotation = spec.annotation if spec else MISSING
        if holds_messages(annotation, None if old is MISSING else old):
            if append and isinstance(value, dict):
                return new_messages([value], (spec.name if spec else "",))[0]
            return new_messages(value, (spec.name if spec else "",))
        if append and isinstance(value, list) and isinstance(old, list) and old and value:
            grown = restore([*_plain_of(old), *value], old, (spec.name if spec else "",))
            return grown[len(old) :]
        return value

    def _check(self, key: str, value: Any, old: Any, spec: ChannelSpec | None, *, append: bool) -> Any:
        """Return the value as its declared container; refuse a shape that no later step could use."""
        wanted = declared(spec.annotation) if spec else ()
        if not wanted or any(fits(value, one) for one in wanted) or type(value) is type(old):
            return value
        if append and kind_of(value) == "message":
            return value
        for one in (tuple, set, frozenset):
            if one in wanted and isinstance(value, list):
                return one(value)
        holds, write = " or ".join(map(a, wanted)), " or ".join(EXAMPLES.get(one, "[...]") for one in wanted)
        raise refuse(f"{key!r} holds {holds}, and this is {a(type(value))}. Write {write}.", field=key)

    def preview(self, edits: Sequence[Edit], author: str) -> EditPreview:
        """Return what saving would do; problems are in the preview."""
        changes, problems = self._all(edits)
        if author and author not in self.authors():
            problems.append(Problem(f"There is no node {author!r} to write the edit as.", kind="input", field="author"))
        if problems:
            return EditPreview((), (), problems=tuple(problems))
        try:
            made = self.editor.preview(self.spot.place, changes, author)
        except Exception as error:  # a reducer or the runtime refuses: that is what the preview is for
            return EditPreview((), (), problems=(self.masks.problem_of(refused(error, author)),))
        asking = tuple(dict.fromkeys(task.name for task in self.record.tasks if task.questions))
        return EditPreview(
            outcomes=tuple(self._outcome(change, made) for change in changes),
            next=made.due,
            asks_again=tuple(node for node in made.due if node in asking),
            computed=made.computed,
        )

    def _all(self, edits: Sequence[Edit]) -> tuple[list[Change], list[Problem]]:
        changes: list[Change] = []
        problems: list[Problem] = []
        for edit in edits:
            try:
                changes += self.changes([edit])
            except SessionError as error:
                problems.append(error.problem)
        return changes, problems

    def _outcome(self, change: Change, made: Preview) -> EditOutcome:
        return EditOutcome(
            key=change.key,
            mode="append" if change.append else "overwrite",
            before=self._shown(self.record.state, change.key),
            after=self._shown(made.state, change.key),
            changed=not equal(self.record.state.get(change.key, MISSING), made.state.get(change.key, MISSING)),
        )

    def _shown(self, state: Mapping[str, Any], key: str) -> ValueView | None:
        return view(self.masks.apply((key,), state[key]), USUAL, (key,)) if key in state else None

    def save(self, edits: Sequence[Edit], author: str) -> str:
        """Write the edit as a child of the checkpoint; return the new checkpoint's id."""
        changes = self.changes(edits)
        if author and author not in self.authors():
            raise refuse(f"There is no node {author!r} to write the edit as.", field="author")
        try:
            return self.editor.save(self.spot.place, changes, author)
        except Exception as error:  # whatever the reducers or the saver raise is shown; nothing was written
            raise SessionError(refused(error, author)) from error


def refused(error: Exception, author: str) -> Problem:
    """Return why an edit was refused as a sentence."""
    if isinstance(error, CheckpointStorageError):
        return storage_problem(error)
    if not author and "ambiguous" in text_of(error).lower():
        return Problem(
            "Choose the node to write this edit as: several could be.", field="author", details=describe(error)
        )
    return Problem(f"The edit does not go in: {said(error)}", details=describe(error))


def _annotated(spec: ChannelSpec | None) -> str:
    annotation = spec.annotation if spec else MISSING
    if annotation is MISSING:
        return ""
    name = (
        annotation.__name__
        if isinstance(annotation, type) and not hasattr(annotation, "__origin__")
        else str(annotation)
    )
    return literal(name.replace("typing.", "").replace("langchain_core.messages.", ""))


def _plain_of(value: Any) -> Any:
    from debugger_ui.session.codec import to_plain

    return to_plain(value)


def declared(annotation: Any) -> tuple[type, ...]:
    """Return the types that a declaration such as `list[str] | None` allows; () when it cannot be told from values."""
    parts = get_args(annotation) if get_origin(annotation) in (Union, UnionType) else (annotation,)
    bases = tuple(get_origin(part) or part for part in parts)
    return bases if all(base in DECLARED for base in bases) else ()


def fits(value: Any, wanted: type) -> bool:
    """Whether a value is of a declared type: true and false are no numbers, and a whole number is one with a point."""
    if isinstance(value, bool):
        return wanted is bool
    return isinstance(value, (int, float) if wanted is float else wanted)


def a(cls: type) -> str:
    """Return a type's name with its article; None is null."""
    if cls is NoneType:
        return "null"
    return f"{'an' if cls.__name__[:1] in 'aeiou' else 'a'} {cls.__name__}"
