"""What is allowed in a drawing and still looks like a mistake."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from runtime.graph.spec import GraphSpec


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that looks like a mistake.

    `rule` names the kind; `node` is the node it is about; `message` says what and why.
    """

    rule: Literal["unreachable", "no-way-out", "dead-join"]
    node: str
    message: str

    def __str__(self) -> str:
        return self.message


def findings(spec: GraphSpec) -> list[Finding]:
    """Every finding, in the order in which the nodes were added."""
    return []
