"""Values to bytes and back: exactly, or with an error; and never by running what the bytes say.

`Serializer` is the default of the database savers. `allow_types` says which further classes may come back as
themselves; a stored value of any other class comes back as an `Opaque`, and is written back byte for byte.
"""

from runtime.checkpoint.serde.allow import allow_types
from runtime.checkpoint.serde.opaque import Opaque
from runtime.checkpoint.serde.serializer import Serializer

__all__ = ["Opaque", "Serializer", "allow_types"]
