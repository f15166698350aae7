"""The extension codes in stored values. They are a data format: a code never changes its meaning.

Codes 0 to 7 are those of `langgraph-checkpoint`, laid out the same, so that either side reads them. The others
are for what it cannot represent; a value that uses one is tagged `forkpoint` instead of `msgpack`.
"""

# (module, name, argument), (module, name, arguments), (module, name, keyword arguments)
ONE_ARGUMENT = 0
ARGUMENTS = 1
KEYWORDS = 2
METHOD = 3  # (module, name, argument, method)
PYDANTIC_1 = 4  # (module, name, fields)
PYDANTIC_2 = 5  # (module, name, fields, method)
NUMPY_ARRAY = 6  # (dtype, shape, order, bytes)
DELTA_SNAPSHOT = 7  # value

TUPLE = 64  # elements
BIG_INT = 65  # decimal digits
BYTEARRAY = 66  # bytes
PAIRS = 67  # a dict whose keys are not all strings: (key, value) pairs
MODEL = 68  # (module, name, fields, names of the fields set, extra, private)
INSTANCE = 69  # (module, name, attributes)
SUBCLASS = 70  # (module, name, plain value, attributes), of a built-in class
NUMPY_SCALAR = 71  # (dtype, bytes)
OBJECT_ARRAY = 72  # (dtype description, shape, elements)
PANDAS = 73  # (kind, parts)
DATETIME = 74  # (year to microsecond, tzinfo, fold)
NESTED = 75  # a list or dict, packed by itself where nesting is too deep for one piece
CLASS = 76  # (module, name): the class itself
STDLIB = 77  # (what, arguments): values of the standard library with no constructor call of their own
SECRET = 78  # (module, name, value)
TAGGED = 79  # (type tag, bytes): a value in another encoding, such as a pickle, kept closed

OURS = frozenset(range(TUPLE, TAGGED + 1))
COMPATIBLE = "msgpack"
OWN = "forkpoint"
