"""UI components as state: nodes put them on the `custom` stream, a front end draws them.

A component is a dict with `type` "ui", an `id`, a `name` and `props`; `{"type": "remove-ui", "id": ...}`
takes one away. The state keeps them under a key whose reducer is `ui_message_reducer`.
"""

import uuid
from collections.abc import Mapping
from typing import Any, Literal

from langchain_core.messages import AnyMessage
from typing_extensions import TypedDict

from runtime._context import RunningTask, current

__all__ = (
    "AnyUIMessage",
    "RemoveUIMessage",
    "UIMessage",
    "delete_ui_message",
    "push_ui_message",
    "ui_message_reducer",
)


class UIMessage(TypedDict):
    """A component to draw: which one, with what properties, and where it comes from."""

    type: Literal["ui"]
    id: str
    name: str
    props: dict[str, Any]
    metadata: dict[str, Any]


class RemoveUIMessage(TypedDict):
    """A component, named by its id, to take away."""

    type: Literal["remove-ui"]
    id: str


AnyUIMessage = UIMessage | RemoveUIMessage


def push_ui_message(  # noqa: PLR0913 - one keyword per thing that a component has
    name: str,
    props: dict[str, Any],
    *,
    id: str | None = None,
    metadata: dict[str, Any] | None = None,
    message: AnyMessage | None = None,
    state_key: str | None = "ui",
    merge: bool = False,
) -> UIMessage:
    """Show a component: put it on the `custom` stream, and in the state under `state_key`.

    Args:
        name: Which component.
        props: Its properties.
        id: Its id; the component with that id is replaced. A new one by default.
        metadata: Goes with it, beside the run's id, tags and name.
        message: The message that it belongs to.
        state_key: The state's key; None for the stream alone.
        merge: Whether to keep those properties of a replaced component that `props` does not name.

    Returns the component. Raises RuntimeError outside a running node.
    """
    context = _running("push_ui_message")
    config = context.config
    about: dict[str, Any] = {
        "merge": merge,
        "run_id": config.get("run_id"),
        "tags": config.get("tags"),
        "name": config.get("run_name"),
        **(metadata or {}),
    }
    message_id = message.get("id") if isinstance(message, Mapping) else getattr(message, "id", None)
    if message_id:
        about["message_id"] = message_id
    shown: UIMessage = {"type": "ui", "id": id or str(uuid.uuid4()), "name": name, "props": props, "metadata": about}
    context.writer(shown)
    if state_key:
        context.write(state_key, shown)
    return shown


def delete_ui_message(id: str, *, state_key: str = "ui") -> RemoveUIMessage:
    """Take a component away, from the stream's reader and from the state under `state_key`.

    Returns what was written. Raises RuntimeError outside a running node.
    """
    context = _running("delete_ui_message")
    removal: RemoveUIMessage = {"type": "remove-ui", "id": id}
    context.writer(removal)
    context.write(state_key, removal)
    return removal


def _running(call: str) -> RunningTask:
    context: RunningTask | None = current()
    if context is None:
        raise RuntimeError(f"{call}() was called outside a running node; call it in a node")
    return context


def ui_message_reducer(
    left: list[AnyUIMessage] | AnyUIMessage, right: list[AnyUIMessage] | AnyUIMessage
) -> list[AnyUIMessage]:
    """Fold components into those at hand, by id: new ones are appended, known ones replaced in place.

    A component with `merge` in its metadata keeps the properties that it does not name. Raises
    ValueError for the removal of an id that is not there.
    """
    shown: dict[Any, Any] = {component.get("id"): component for component in _listed(left)}
    removed: set[Any] = set()
    for component in _listed(right):
        key = component.get("id")
        if component.get("type") == "remove-ui":
            if key not in shown:
                raise ValueError(f"the UI component {key!r} cannot be removed: there is none with this id")
            removed.add(key)
            continue
        removed.discard(key)
        known = shown.get(key)
        if known is not None and component.get("metadata", {}).get("merge"):
            component = {**component, "props": {**known["props"], **component["props"]}}
        shown[key] = component
    return [component for key, component in shown.items() if key not in removed]


def _listed(components: Any) -> list[dict[str, Any]]:
    return components if isinstance(components, list) else [components]
