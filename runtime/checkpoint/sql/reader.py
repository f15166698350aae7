"""From rows to checkpoints. Functions of a connection, for the newest one, for any one, for many.

Rule: what is handed out is new. No two callers ever share a dict or a list, nor does the cache with any of them.
      Only messages may be shared, by runs on one thread: see `handed`.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from runtime.checkpoint.base import Checkpoint, CheckpointTuple, PendingWrite, SerializerProtocol, writes_sort_key
from runtime.checkpoint.sql import queries
from runtime.checkpoint.sql.configs import config_of
from runtime.checkpoint.sql.database import Session
from runtime.checkpoint.sql.frames import State, damaged
from runtime.checkpoint.sql.heads import Heads
from runtime.checkpoint.sql.jobs import load_head
from runtime.checkpoint.sql.lists import Memo
from runtime.checkpoint.sql.places import Place, Rope
from runtime.checkpoint.sql.prepare import Head
from runtime.checkpoint.sql.statements import Conn
from runtime.checkpoint.sql.store import Store, read_serialized
from runtime.checkpoint.sql.values import Values


class View(NamedTuple):
    """A state as it was when looked at, safe from being advanced meanwhile. `quiet`: it has no writes, for certain.

    Nobody changes its dicts, but for `versions`, which go to the caller.
    """

    id: str
    parent: str | None
    versions: dict[str, Any]
    seen: Mapping[str, Mapping[str, Any]]
    places: Mapping[str, Place]
    rest: Mapping[str, Any]
    metadata: Any
    created_at: str | None
    quiet: bool


def view(state: State, metadata: Any, created_at: str | None, quiet: bool) -> View:
    """What a state holds now."""
    places = state.places.copy()
    for channel, place in places.items():
        if isinstance(place, Rope):
            places[channel] = place.copy()
    return View(
        state.id or "",
        state.parent,
        state.versions.copy(),
        state.seen.copy(),  # what a node has seen is replaced in a state, never changed
        places,
        state.rest,
        metadata,
        created_at,
        quiet,
    )


def _of_head(head: Head) -> View:
    return view(head.state, head.metadata, head.created_at, head.log.count == 0 and not head.log.stale)


def find(store: Store, session: Session, thread_id: str, ns: str, checkpoint_id: str | None) -> View | None:
    """A checkpoint, or with no id the newest, from memory or the database."""
    heads, conn = store.heads, session.conn
    if checkpoint_id is not None and not _in_memory(heads, thread_id, ns, checkpoint_id):
        old = load_head(conn, thread_id, ns, checkpoint_id, with_log=False)
        state = old.state  # nobody else's, so there is nothing to copy
        if state.id is None:
            return None
        parts = (state.versions, state.seen, state.places, state.rest)
        return View(state.id, state.parent, *parts, old.metadata, old.created_at, quiet=False)
    store.note(session)
    with heads.lock:
        wanted = checkpoint_id or heads.newest(thread_id, ns)
    if wanted is None:
        wanted = queries.newest_id(conn, thread_id, ns)
        if wanted is None:
            return None
        with heads.lock:
            heads.found_newest(thread_id, ns, wanted)
    with heads.lock:
        is_newest = heads.newest(thread_id, ns) == wanted
        head = heads.look(thread_id, ns, wanted)
        if head is not None:
            return _of_head(head)
    head = load_head(conn, thread_id, ns, wanted, with_log=is_newest)
    if head.state.id is None:
        return None
    found = _of_head(head)
    if is_newest:
        with heads.lock:
            heads.keep(thread_id, ns, head)
    return found


def _in_memory(heads: Heads, thread_id: str, ns: str, checkpoint_id: str) -> bool:
    """Whether anything is remembered of a checkpoint. If not, nobody else's commits can have made it untrue."""
    with heads.lock:
        return heads.newest(thread_id, ns) == checkpoint_id or heads.look(thread_id, ns, checkpoint_id) is not None


def get_tuple(
    store: Store, session: Session, serde: SerializerProtocol, thread_id: str, ns: str, checkpoint_id: str | None
) -> CheckpointTuple | None:
    """A checkpoint with its values and pending writes; with no id the newest. None if there is none."""
    found = find(store, session, thread_id, ns, checkpoint_id)
    if found is None:
        return None
    conn, stored = session.conn, Values(serde, thread_id, ns)
    rows = [] if found.quiet else conn.rows(queries.WRITES, thread_id, ns, found.id)
    for row in rows:
        stored.know((found.id, row[0]), row[6], row[7])
    if checkpoint_id:
        stored.read(conn, found.places.values())
        values = stored.at(found.places)
    else:
        values = _newest_values(store, conn, serde, (thread_id, ns), found.places, stored)
    _remember(store, serde, (thread_id, ns, found.id), values)
    return as_tuple(serde, thread_id, ns, found, values, pending_writes(stored, found.id, rows))


def _remember(store: Store, serde: SerializerProtocol, key: tuple[str, str, str], values: Mapping[str, Any]) -> None:
    """Keep the lists that were handed out: a run that goes on from here returns the same elements."""
    heads = store.heads
    with heads.lock:
        head = heads.look(*key)
        if head is None or (head.memos and head.serde is not None and head.serde is not serde):
            return
        head.serde = serde
        for channel, place in head.state.places.items():
            value = values.get(channel)
            if isinstance(place, Rope) and isinstance(value, list):
                head.memos[channel] = Memo(value)


def _newest_values(
    store: Store,
    conn: Conn,
    serde: SerializerProtocol,
    namespace: tuple[str, str],
    places: Mapping[str, Place],
    stored: Values,
) -> dict[str, Any]:
    """The values for a run: of lists of messages, only what was added since the last run is read."""
    handed, epoch = store.handed, store.heads.epoch
    taken = {}
    rest: dict[str, Place] = {}
    for channel, place in places.items():
        if isinstance(place, Rope):
            key = handed.key(serde, *namespace, channel)
            at, elements = handed.take(key, place, epoch)
            taken[channel] = key, place, at, elements
            place = Rope(place.parts[at:]) if at else place
        rest[channel] = place
    stored.read(conn, rest.values())
    values = stored.at(rest)
    for channel, (key, place, at, elements) in taken.items():
        if at < len(place.parts):
            handed.keep(key, place, at, values[channel], epoch)
        values[channel] = elements + values[channel]
    return values


def pending_writes(stored: Values, checkpoint_id: str, rows: Iterable[tuple[Any, ...]]) -> list[PendingWrite]:
    """The writes that count, decoded, in the order in which a run applies them. Their values are in `stored`."""
    newest: dict[tuple[str, int], tuple[Any, ...]] = {}
    for row in rows:
        newest[row[1], row[4]] = row
    ordered = sorted(newest.values(), key=lambda row: writes_sort_key(row[2], row[1], row[4]))
    return [(row[1], row[5], stored.write(checkpoint_id, row[0], row[1], row[5])) for row in ordered]


def as_tuple(
    serde: SerializerProtocol,
    thread_id: str,
    ns: str,
    found: View,
    values: dict[str, Any],
    writes: list[PendingWrite],
) -> CheckpointTuple:
    """Everything in the shape that the saver interface has."""
    rest = found.rest
    checkpoint = Checkpoint(
        v=rest.get("v") or 1,
        id=found.id,
        ts=found.created_at or "",
        channel_values=values,
        channel_versions=found.versions,
        versions_seen={node: dict(seen) for node, seen in found.seen.items()},
        updated_channels=rest.get("u"),
    )
    extra: dict[str, Any] = {"pending_sends": []} if rest.get("e") else {}
    if "x" in rest:
        extra = read_serialized(serde, rest["x"][0], rest["x"][1], f"checkpoint {found.id!r}")
    checkpoint.update(extra)  # type: ignore[typeddict-item]
    parent = config_of(thread_id, ns, found.parent) if found.parent else None
    metadata = metadata_of(found.metadata, found.id)
    return CheckpointTuple(config_of(thread_id, ns, found.id), checkpoint, metadata, parent, writes)  # type: ignore[arg-type]


_read_json = json.JSONDecoder().raw_decode


def metadata_of(text: Any, checkpoint_id: str) -> Mapping[str, Any]:
    """The metadata of a checkpoint.

    Raises:
        CheckpointStorageError: they are no JSON object.
    """
    try:
        found = read_json(text)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, Mapping):
        raise damaged(checkpoint_id, "its metadata are not a JSON object")
    return found


def read_json(text: Any) -> Any:
    """Metadata: text on SQLite, decoded by the driver on PostgreSQL."""
    if not isinstance(text, str):
        return text
    if text[:1] == "{":
        value, end = _read_json(text)  # without looking for blanks around it, which takes longer than the reading
        if end == len(text):
            return value
    return json.loads(text)
