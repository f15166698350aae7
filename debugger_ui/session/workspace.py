"""What is open in this process and shared by every browser tab.

Engines (a graph on its database, or a database alone), the board of running jobs, breakpoints,
and the names and notes that people gave to branches.
"""


class Workspace:
    """Everything that outlives one tab: `Workspace.open("app.graph:graph", database="x.sqlite")`."""

    @classmethod
    def open(
        cls, target: str | None = None, *, database: str | None = None, read_only: bool = False
    ) -> "Workspace":
        """Open a graph spec (`pkg.module:attr`), a folder or langgraph.json, or a database alone.

        Raises:
            SessionError: what was given cannot be opened; the sentence says why and what can be.
        """
        raise NotImplementedError
