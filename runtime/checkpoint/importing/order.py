"""The order in which a thread's checkpoints are stored: parents before their children."""

from collections.abc import Iterator, Sequence

from runtime.checkpoint.errors import CheckpointStorageError


def parents_first(lineage: Sequence[tuple[str, str, str | None]], where: str) -> Iterator[tuple[str, str]]:
    """Namespace and id of each checkpoint of a thread, given with their parents, after its parent.

    Ids nearly always increase along a branch; a clock that stepped back is why this looks.

    Raises:
        CheckpointStorageError: parents lead round in a circle.
    """
    parents = {(ns, checkpoint_id): parent for ns, checkpoint_id, parent in lineage}
    done: set[tuple[str, str]] = set()
    for start in parents:
        key, line = start, {start: None}
        while True:
            parent = parents[key]
            above = (key[0], parent or "")
            if parent is None or above not in parents or above in done:
                break
            if above in line:
                raise CheckpointStorageError(
                    f"the parents of checkpoint {start[1]!r} in {where} lead round in a circle, by {parent!r}",
                    "corrupt",
                )
            line[key := above] = None
        for found in reversed(line):
            if found not in done:
                done.add(found)
                yield found
