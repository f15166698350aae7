"""`forkpoint db prune --keep-latest`: remove all but the newest checkpoint of each thread and namespace."""

import argparse
from typing import Any

from debugger_ui.dbtools.progress import show
from debugger_ui.dbtools.words import count, every_thread, size
from runtime.checkpoint.errors import CheckpointStorageError


def run(saver: Any, arguments: argparse.Namespace) -> int:
    """Print what goes, and with `--yes` remove it; return the exit status."""
    known = [thread.thread_id for thread in every_thread(saver)]
    for thread in arguments.threads:
        if thread not in known:
            raise CheckpointStorageError(f"there is no thread {thread!r} in {arguments.file}", "missing")
    threads = arguments.threads or known
    changed = 0
    removed = [0, 0, 0]
    for done, thread in enumerate(threads, 1):
        before, after = saver.preview_prune([thread])[thread]
        show(done, len(threads), "thread")
        less = (
            before.checkpoints - after.checkpoints,
            before.writes - after.writes,
            before.bytes - after.bytes,
        )
        if less[0]:
            changed += 1
            removed = [one + other for one, other in zip(removed, less, strict=True)]
            print(f"  {thread}: {count(less[0], 'checkpoint')} of {before.checkpoints:,}, {count(less[1], 'write')}")
    if not changed:
        print("nothing to remove: every thread has its newest checkpoint only")
        return 0
    what = f"{count(removed[0], 'checkpoint')} and {count(removed[1], 'write')} of {count(changed, 'thread')}"
    freed = f"{size(max(removed[2], 0))} of frames and values"
    if not arguments.yes:
        print(f"would remove {what}, {freed}; nothing was removed. Add --yes to do it.")
        return 0
    saver.prune(threads, strategy="keep_latest")
    print(f"removed {what}, {freed}. The file keeps its size, and uses the room for what comes.")
    return 0
