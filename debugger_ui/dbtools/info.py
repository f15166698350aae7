"""`forkpoint db info`: what a database holds. No value is decoded."""

import argparse
from pathlib import Path
from typing import Any

from debugger_ui.dbtools.words import count, every_thread, size
from debugger_ui.engines.opening import shown_name

SHOWN = 50
"""Threads that are listed one by one."""


def run(saver: Any, arguments: argparse.Namespace) -> int:
    """Print it; return the exit status."""
    threads = list(every_thread(saver))
    sizes = {thread.thread_id: saver.sizes(thread.thread_id) for thread in threads}
    total = [sum(part) for part in zip(*((s.checkpoints, s.writes, s.bytes) for s in sizes.values()), strict=True)]
    checkpoints, writes, held = total or (0, 0, 0)
    print(f"database     {shown_name(arguments.file)}")
    if Path(arguments.file).is_file():
        print(f"file         {size(Path(arguments.file).stat().st_size)}")
    version, rows = saver.tables()
    print(f"schema       version {version}")
    print("tables       " + ", ".join(f"{name} ({count(number, 'row')})" for name, number in rows.items()))
    print(f"threads      {len(threads):,}")
    print(f"checkpoints  {checkpoints:,}")
    print(f"writes       {writes:,}")
    print(f"bytes        {size(held)} in frames and values")
    for thread in threads[:SHOWN]:
        held_here = sizes[thread.thread_id]
        print(
            f"  {thread.thread_id}: {count(held_here.checkpoints, 'checkpoint')}, "
            f"{count(held_here.writes, 'write')}, {size(held_here.bytes)}, newest {thread.updated_at or thread.newest}"
        )
    if len(threads) > SHOWN:
        print(f"  and {count(len(threads) - SHOWN, 'more thread')}")
    return 0
