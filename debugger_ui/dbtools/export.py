"""`forkpoint db export`: the record of a thread as JSON, the same that the debugger's page saves.

What is masked beside the database is masked here too, unless all values are asked for.
"""

import argparse
import sys
from pathlib import Path
from typing import Any

from debugger_ui.dbtools.progress import show
from debugger_ui.dbtools.words import count, size
from debugger_ui.engines.opening import reader_for
from debugger_ui.engines.record import RecordEngine
from debugger_ui.session.export import export_thread
from debugger_ui.session.files import is_url
from debugger_ui.session.masks import Masks, beside
from debugger_ui.session.reading import Reading, Spot
from runtime.checkpoint.errors import CheckpointStorageError


def run(saver: Any, arguments: argparse.Namespace) -> int:
    """Write the file; return the exit status."""
    kept = None if arguments.unmasked or is_url(arguments.file) else beside(Path(arguments.file))
    masks = Masks(arguments.mask, kept, keep=False)
    reading = Reading(RecordEngine(saver, reader_for(saver), arguments.file), masks)
    history = reading.history(arguments.thread)
    if not len(history):
        raise CheckpointStorageError(f"there is no thread {arguments.thread!r} in {arguments.file}", "missing")
    spot = Spot(arguments.thread, "", "", history.newest, False)
    made = export_thread(reading, spot, lambda done, of: show(done, of, "checkpoint"))
    out = Path(arguments.out)
    # "x": what is there already may be the only copy of something.
    with out.open("xb") as file:
        file.write(made.data)
    for note in made.notes:
        print(f"forkpoint: {note}", file=sys.stderr)
    print(f"wrote {out}: {count(len(history), 'checkpoint')}, {size(len(made.data))}")
    return 0
