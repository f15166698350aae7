"""The version of the installed package."""

from importlib import metadata

__all__ = ("__version__",)


def _installed() -> str:
    try:
        return metadata.version("forkpoint")
    except metadata.PackageNotFoundError:
        return ""  # run from a checkout that was not installed


__version__ = _installed()
