"""How far a tool has come, on stderr and only where somebody looks on: what it prints stays as it is."""

import sys

from debugger_ui.dbtools.words import count


def show(done: int, of: int, thing: str) -> None:
    """Write "120 of 3,000 checkpoints" over what stood there; end the line when all are done."""
    if sys.stderr.isatty():
        print(f"\r{done:,} of {count(of, thing)}", end="" if done < of else "\n", file=sys.stderr, flush=True)
