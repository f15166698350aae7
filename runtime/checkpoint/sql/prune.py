"""Removing part of a history, so that what stays can still be read.

Rule: before a checkpoint goes, every checkpoint that stays and needs its frame or its values gets them itself.
"""

from collections.abc import Sequence

from runtime.checkpoint.sql import queries
from runtime.checkpoint.sql.frames import read_state
from runtime.checkpoint.sql.places import Part, Place, Rope, addresses
from runtime.checkpoint.sql.reader import read_json
from runtime.checkpoint.sql.statements import Conn
from runtime.checkpoint.sql.store import delete_thread


def prune(conn: Conn, thread_ids: Sequence[str], strategy: str) -> None:
    """Remove all of these threads' checkpoints, or all but the newest of each namespace."""
    for thread_id in thread_ids:
        if strategy == "delete":
            delete_thread(conn, thread_id)
            continue
        for (ns,) in conn.rows(queries.NAMESPACES, thread_id):
            ids = [row[0] for row in conn.rows(queries.IDS, thread_id, ns)]
            remove(conn, thread_id, ns, set(ids[:-1]), ids)


def delete_for_runs(conn: Conn, run_ids: Sequence[str]) -> None:
    """Remove the checkpoints whose metadata names one of these runs."""
    wanted = set(run_ids)
    doomed: dict[tuple[str, str], set[str]] = {}
    for thread_id, ns, checkpoint_id, metadata in conn.rows(queries.ALL_METADATA) if wanted else ():
        if read_json(metadata).get("run_id") in wanted:
            doomed.setdefault((thread_id, ns), set()).add(checkpoint_id)
    for (thread_id, ns), ids in doomed.items():
        remove(conn, thread_id, ns, ids, [row[0] for row in conn.rows(queries.IDS, thread_id, ns)])


def remove(conn: Conn, thread_id: str, ns: str, doomed: set[str], ids: Sequence[str]) -> None:
    """Remove checkpoints of one namespace. `ids` are all it has, oldest first."""
    for checkpoint_id in ids:
        if checkpoint_id not in doomed:
            _detach(conn, thread_id, ns, checkpoint_id, doomed)
    for checkpoint_id in doomed:
        for statement in queries.DELETE_CHECKPOINT:
            conn.run(statement, thread_id, ns, checkpoint_id)


def _detach(conn: Conn, thread_id: str, ns: str, checkpoint_id: str, doomed: set[str]) -> None:
    """Give a checkpoint that stays its own copy of what it has from checkpoints that go."""
    chain = conn.rows(queries.CHAIN, thread_id, ns, checkpoint_id)
    state = read_state(chain)
    borrowed = {address for place in state.places.values() for address in addresses(place) if address[0] in doomed}
    if not borrowed and not any(frame[0] in doomed for frame in chain[1:]):
        return
    stored = queries.values_at(conn, thread_id, ns, borrowed)
    taken = conn.one(queries.VALUE_COUNT, thread_id, ns, checkpoint_id)
    number = -1 - (taken[0] if taken else 0)
    moved: dict[tuple[str, int], tuple[str, int]] = {}
    for channel, place in state.places.items():
        for address in addresses(place):
            if address in stored and address not in moved:
                moved[address] = (checkpoint_id, number)
                conn.run(queries.INSERT_VALUE, thread_id, ns, checkpoint_id, number, channel, *stored[address])
                number -= 1
    state.places = {channel: _moved(place, moved) for channel, place in state.places.items()}
    conn.run(queries.REWRITE_FRAME, state.keyframe(), thread_id, ns, checkpoint_id)


def _moved(place: Place, moved: dict[tuple[str, int], tuple[str, int]]) -> Place:
    if isinstance(place, Rope):
        return Rope(Part(*moved.get(part[:2], part[:2]), *part[2:]) for part in place.parts)
    return moved.get(place, place)
