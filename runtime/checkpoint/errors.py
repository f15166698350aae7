"""What can go wrong with stored checkpoints, in one class with a reason that programs can test.

Rule: no error of a database driver reaches the caller bare; it is the cause of one of these.
"""

from typing import Literal

Reason = Literal[
    "busy",  # another process kept the database locked longer than the busy timeout
    "closed",  # the saver was closed
    "conflict",  # another checkpoint with this id is already stored
    "corrupt",  # the file, or a row of it, is damaged
    "encrypted",  # a value was stored by an `EncryptedSerializer` whose key is not here
    "foreign",  # the database holds the tables of something else
    "full",  # the disk, or the database's size limit, is full
    "missing",  # a database opened for reading that is not there, or a file that was removed while it was open
    "newer",  # the database was written by a newer version
    "not_a_database",  # the file is something else
    "read_only",  # the file, its folder or the saver is read-only
    "unavailable",  # anything else that the driver reports: no connection, an I/O error
]


class CheckpointStorageError(Exception):
    """A checkpoint could not be written or read. `reason` says which kind of trouble, in one word.

    What was saved before stays readable, unless the reason is `corrupt` or `not_a_database`.
    """

    def __init__(self, message: str, reason: Reason = "unavailable") -> None:
        super().__init__(message)
        self.reason: Reason = reason


class SerializationError(TypeError):
    """A value cannot be stored exactly. The message names where in the value, and what is wrong with it."""


def undecoded(what: str, kind: str, error: Exception) -> CheckpointStorageError:
    """The error for a stored value that is not decoded: damaged, or encrypted, which its type tag says after a plus."""
    if "+" in kind:
        cipher = kind.rpartition("+")[2]
        return CheckpointStorageError(f"{what} is encrypted ({cipher}), and the right key is not here", "encrypted")
    return CheckpointStorageError(f"{what} cannot be decoded: {error}", "corrupt")
