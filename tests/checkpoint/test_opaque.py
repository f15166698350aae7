"""A stored object whose class is not allowed says so to whoever uses it, and can be copied and passed on."""

import copy
import pickle
from dataclasses import dataclass

import pytest

from runtime.checkpoint.serde import Opaque, Serializer


@dataclass
class Unlisted:
    """A class that nobody allows."""

    x: int


def test_an_object_that_was_not_made_again_says_so_when_it_is_used():
    serializer = Serializer()
    found = serializer.loads_typed(serializer.dumps_typed(Unlisted(1)))
    assert type(found) is Opaque
    with pytest.raises(AttributeError, match=r"has no 'x' here, as it was not made an object again: .*allow_types"):
        _ = found.x
    assert copy.deepcopy(found) == pickle.loads(pickle.dumps(found)) == found
