"""Warning classes for names and spellings that still work but have a successor.

Every class is a DeprecationWarning. The `LangGraph...` names are the same classes, so that filters
written for LangGraph keep working.
"""

__all__ = (
    "DeprecatedSince05",
    "DeprecatedSince10",
    "DeprecatedSince11",
    "GraphDeprecationWarning",
    "LangGraphDeprecatedSinceV05",
    "LangGraphDeprecatedSinceV10",
    "LangGraphDeprecatedSinceV11",
    "LangGraphDeprecationWarning",
)


class GraphDeprecationWarning(DeprecationWarning):
    """A spelling of the graph API that has a successor.

    `since` and `expected_removal` are (major, minor) versions of the API in which the spelling was
    deprecated and will be dropped; the removal defaults to the next major version.
    """

    message: str
    since: tuple[int, int]
    expected_removal: tuple[int, int]

    def __init__(
        self,
        message: str,
        *args: object,
        since: tuple[int, int],
        expected_removal: tuple[int, int] | None = None,
    ) -> None:
        super().__init__(message, *args)
        self.message = message.removesuffix(".")
        self.since = since
        self.expected_removal = expected_removal or (since[0] + 1, 0)

    def __str__(self) -> str:
        since, removal = (".".join(map(str, v)) for v in (self.since, self.expected_removal))
        return f"{self.message}. (Deprecated since API {since}, goes away in {removal}.)"


class DeprecatedSince05(GraphDeprecationWarning):
    """Deprecated since version 0.5 of the API."""

    def __init__(self, message: str, *args: object) -> None:
        super().__init__(message, *args, since=(0, 5), expected_removal=(2, 0))


class DeprecatedSince10(GraphDeprecationWarning):
    """Deprecated since version 1.0 of the API."""

    def __init__(self, message: str, *args: object) -> None:
        super().__init__(message, *args, since=(1, 0), expected_removal=(2, 0))


class DeprecatedSince11(GraphDeprecationWarning):
    """Deprecated since version 1.1 of the API."""

    def __init__(self, message: str, *args: object) -> None:
        super().__init__(message, *args, since=(1, 1), expected_removal=(3, 0))


LangGraphDeprecationWarning = GraphDeprecationWarning
LangGraphDeprecatedSinceV05 = DeprecatedSince05
LangGraphDeprecatedSinceV10 = DeprecatedSince10
LangGraphDeprecatedSinceV11 = DeprecatedSince11
