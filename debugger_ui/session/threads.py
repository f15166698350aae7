"""The list of threads, each with the status of its newest checkpoint; filters and search over them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from debugger_ui.engines.base import Engine, Failure, Outline, ThreadHead
from debugger_ui.engines.failures import without_codes
from debugger_ui.session.masks import Masks
from debugger_ui.session.text import literal
from debugger_ui.session.view_record import Page, ThreadRow
from debugger_ui.session.workspace import GRAPH_LABEL, Desk, Workspace
from runtime.checkpoint.errors import CheckpointStorageError

SCAN = 1_000
"""Threads, the newest ones, that are looked into for a status or for what their state says."""
MEASURED = 20_000
"""Checkpoints up to which a thread is measured: its size takes a look at every row."""
ERROR_LENGTH = 96
"""Characters of an error in the list."""

DAMAGE = "corrupt"
DAMAGED = (
    "The database file is damaged. What can be read of it is shown; threads may be missing. Copy the file before "
    "anything else is done with it."
)


def heads_of(engine: Engine, offset: int, limit: int, text: str = "") -> tuple[Sequence[ThreadHead], int | None, str]:
    """Return what `Engine.threads` does, around damage if there is some, and a sentence on it."""
    try:
        return *engine.threads(offset, limit, text=text), ""
    except CheckpointStorageError as error:
        if error.reason != DAMAGE:
            raise
    return *engine.threads(offset, limit, text=text, salvage=True), DAMAGED


@dataclass(frozen=True, slots=True)
class Threads:
    """The threads of a workspace, as one of its graphs reads them."""

    workspace: Workspace
    desk: Desk

    def page(self, *, status: str, text: str, window: tuple[int, int]) -> Page[ThreadRow]:
        """Return one page of threads; with a status or a text it is filled from those that fit."""
        offset, limit = window
        if not status and not text:
            heads, total, damaged = heads_of(self.desk.engine, offset, limit)
            rows = self._sized(heads, [self._row(head) for head in heads])
            more = offset + len(rows) < total if total is not None else len(rows) == limit
            return Page(rows, offset, limit, total, more, damaged)
        heads, cut, damaged = self._candidates(text)
        found: list[tuple[ThreadHead, ThreadRow]] = []
        for head, row in self._fitting(heads, status, text):
            found.append((head, row))
            if len(found) > offset + limit:
                break
        shown = found[offset : offset + limit]
        more = len(found) > offset + limit
        rows = self._sized([head for head, _ in shown], [row for _, row in shown])
        return Page(rows, offset, limit, None if cut or more else len(found), more, damaged)

    def newest_failure(self) -> ThreadRow | None:
        """Return the newest thread whose newest checkpoint has a failed task; None if there is none."""
        return next(iter(self.page(status="failed", text="", window=(0, 1)).rows), None)

    # --- inside -------------------------------------------------------------------------------

    def _candidates(self, text: str) -> tuple[Sequence[ThreadHead], bool, str]:
        """Return what is looked into, newest first, whether there are threads that are not, and what is damaged."""
        newest, total, damaged = heads_of(self.desk.engine, 0, SCAN)
        cut = (total is None and len(newest) == SCAN) or (total or 0) > SCAN
        if not text or not cut:
            return newest, cut, damaged
        known = {head.id for head in newest}
        named, _, _ = heads_of(self.desk.engine, 0, SCAN, text)
        return [*newest, *(head for head in named if head.id not in known)], True, damaged

    def _fitting(self, heads: Sequence[ThreadHead], status: str, text: str) -> Iterator[tuple[ThreadHead, ThreadRow]]:
        wanted = text.casefold()
        for head in heads:
            row = self._row(head)
            if status and row.status != status:
                continue
            if not wanted or wanted in _named(head, row, self.workspace.masks):
                yield head, row
            elif row.status != "damaged" and (match := self._match(head, text)):
                yield head, replace(row, match=match)

    def _match(self, head: ThreadHead, text: str) -> str:
        try:
            return self.workspace.texts.find(self._owner(head).reading, head.id, head.newest, text)
        except CheckpointStorageError as error:
            if error.reason != DAMAGE:
                raise
            return ""

    def _owner(self, head: ThreadHead) -> Desk:
        return self.workspace.desks.get(self.workspace.graph_of(head.metadata.get(GRAPH_LABEL)), self.desk)

    def _sized(self, heads: Sequence[ThreadHead], rows: Sequence[ThreadRow]) -> tuple[ThreadRow, ...]:
        measured = [head.id for head in heads if (head.checkpoints or 0) <= MEASURED]
        sizes: dict[str, int] = {}
        for thread in measured:
            try:
                sizes.update(self.desk.engine.sizes([thread]))
            except CheckpointStorageError as error:
                if error.reason != DAMAGE:
                    raise
        return tuple(replace(row, bytes=sizes.get(row.id)) for row in rows)

    def _row(self, head: ThreadHead) -> ThreadRow:
        if head.newest:
            try:
                return self._read(head)
            except CheckpointStorageError as error:
                if error.reason != DAMAGE:
                    raise
        title = self.workspace.labels.get("thread", head.id, "").name
        return ThreadRow(head.id, "damaged", "", (), head.step, head.checkpoints or 0, 0, head.updated, title=title)

    def _read(self, head: ThreadHead) -> ThreadRow:
        reading = self._owner(head).reading
        newest = head.newest
        history = reading.history(head.id)
        outline = reading.engine.outlines(head.id, [newest]).get(newest, Outline())
        status = reading.status(outline, followed=False)
        source = history.by_id[newest].source if newest in history.by_id else ""
        return ThreadRow(
            id=head.id,
            status="running" if head.id in self.workspace.board.busy() else status,
            last_node=", ".join(outline.ran) or {"update": "edit", "input": "input"}.get(source, ""),
            next=outline.due,
            steps=head.step,
            checkpoints=len(history),
            branches=len(history.branches),
            updated=head.updated,
            waiting=len(outline.asking),
            error=_errors(outline.failed, self.workspace.masks),
            title=self.workspace.labels.get("thread", head.id, "").name,
            graph=self.workspace.graph_of(head.metadata.get(GRAPH_LABEL)),
        )


def _errors(failed: Sequence[Failure], masks: Masks) -> str:
    """Return what failed in one line. With masks only its kind: a message may hold values that were not read here."""
    if not failed:
        return ""
    first, more = failed[0], len(failed) - 1
    message = "" if masks.patterns else without_codes(first.message)
    said = f"{first.type}: {message}" if message else first.type
    shown = said if len(said) <= ERROR_LENGTH else said[: ERROR_LENGTH - 1] + "…"
    return literal(shown) + (f" (and {more} more)" if more else "")


def _named(head: ThreadHead, row: ThreadRow, masks: Masks) -> str:
    about = masks.apply((), dict(head.metadata))
    return " ".join([head.id, row.title, row.last_node, *row.next, str(about)]).casefold()
