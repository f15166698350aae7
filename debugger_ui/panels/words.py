"""The words and marks for statuses: the same everywhere, told by icon and word, colour last."""

from debugger_ui.components.sheet import Block, Item, chip, note

STATUS = {
    "waiting": ("waiting", "waiting"),
    "failed": ("failed", "failed"),
    "running": ("running", "running"),
    "done": ("finished", "done"),
    "ready": ("ready to step", "next"),
    "empty": ("no checkpoint yet", "todo"),
    "damaged": ("damaged", "warn"),
}

TASK = {
    "saved": ("saved", "done"),
    "supplied": ("supplied", "edited"),
    "failed": ("failed", "failed"),
    "refused": ("refused by the update", "failed"),
    "interrupted": ("waiting for an answer", "waiting"),
    "running": ("running", "running"),
    "to run": ("to run", "next"),
}

TASK_TONE = {
    "saved": "done",
    "supplied": "edit",
    "failed": "failed",
    "refused": "failed",
    "interrupted": "waiting",
    "running": "running",
    "to run": "next",
}


def status_chip(status: str, waiting: int = 0) -> Item:
    """Return the chip for a thread's or checkpoint's status."""
    word, icon = STATUS.get(status, (status, "todo"))
    if status == "waiting" and waiting > 1:
        word = f"waiting: {waiting} questions"
    return chip(word, tone="next" if status == "ready" else status, icon=icon, name="status")


def task_chip(status: str) -> Item:
    """Return the chip for a task's status."""
    word, icon = TASK.get(status, (status, "todo"))
    return chip(word, tone=TASK_TONE.get(status, ""), icon=icon)


def short(checkpoint: str) -> str:
    """Return enough of a checkpoint id to tell it from its neighbours: `1f02…8c07`."""
    return checkpoint if len(checkpoint) <= 12 else f"{checkpoint[:4]}…{checkpoint[-6:]}"


def damage(said: str) -> list[Block]:
    """Return what is said of a damaged database; nothing where there is no damage."""
    return [note(said, "error", name="damaged")] if said else []
