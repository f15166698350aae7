"""The expression language of conditions and watches: what may be written, and what it reads.

Rules:
- Closed: the text is parsed, every part of it is checked against the list here, and our own evaluator walks
  it. Nothing of it is ever run as Python; there are no attributes, and no calls but of the functions listed.
- What an expression reads is known before it is evaluated: `keys` of the checkpoint, `earlier` of its parent.
- Bounded: length, nesting, values looked at, and the size of whatever is made.
"""

import ast
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from debugger_ui.session.evaluation import CONSTANTS, OPERATORS, STATE, Evaluator
from debugger_ui.session.functions import FUNCTIONS, ITERATING, MANY
from debugger_ui.session.plainly import ExpressionError
from debugger_ui.session.problems import SessionError, refuse
from debugger_ui.session.text import literal

MAX_CHARS = 500
MAX_DEPTH = 40
MAX_PARTS = 300
ESCAPES = re.compile(r"""\\(?![\\'"nrt]|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8})""")
PAIRED = re.compile(r"""\\\\""")
WORDS: dict[type[ast.AST], str] = {
    ast.Attribute: "There are no attributes here; reach a field by its name in brackets, as in x[{name!r}].",
    ast.Lambda: "There is no lambda here.",
    ast.NamedExpr: "Nothing can be assigned here; compare with ==.",
    ast.JoinedStr: "There are no formatted texts here.",
    ast.Starred: "There is no * in front of a value here.",
    ast.DictComp: "There is no comprehension of dicts here; make a list.",
    ast.GeneratorExp: f"Put [ ] around `... for ... in ...`; only {', '.join(ITERATING)} take it without.",
    ast.Slice: "A slice stands in brackets, as in x[1:3].",
    ast.Await: "There is no await here.",
    ast.Yield: "There is no yield here.",
    ast.YieldFrom: "There is no yield here.",
}


@dataclass(frozen=True, slots=True, eq=False)
class Expression:
    """A checked expression. Make one with `parse`."""

    text: str
    tree: ast.expr
    keys: frozenset[str]
    """State keys that it reads at the checkpoint."""
    earlier: frozenset[str]
    """State keys that it reads at the checkpoint before."""

    def value(self, now: Mapping[str, Any], before: Callable[[], Mapping[str, Any]] = dict) -> Any:
        """Return what it comes to over a state; `before` gives the parent's, and is asked only if need be.

        Raises:
            ExpressionError: it has no value here; the sentence says why and where.
        """
        return Evaluator(now, before).result(self.tree)


def parse(text: str) -> Expression:
    """Return the expression that a text means.

    Raises:
        ExpressionError: it is not of this language; the sentence says what and where.
    """
    source = text.strip()
    if not source:
        raise ExpressionError("The expression is empty.")
    _check_text(source)
    try:
        tree = ast.parse(source, mode="eval").body
    except SyntaxError as error:
        said = (error.msg or "invalid syntax").partition(". ")[0].partition(" (<")[0]
        column = max(1, min(error.offset or 1, len(source)))
        raise ExpressionError(f"This is not an expression: {literal(said)}.", column) from None
    except (RecursionError, MemoryError, ValueError, OverflowError):
        raise ExpressionError("The expression is nested too deep.") from None
    _count_characters(tree, source.encode())
    check = _Check()
    check.part(tree, 0, frozenset())
    return Expression(source, tree, frozenset(check.keys), frozenset(check.earlier))


def parsed(text: str, known: frozenset[str], field: str) -> Expression:
    """Return a typed expression, or refuse it; `known` are the state's keys, none when only the record knows.

    Raises:
        SessionError: it is not of the language, or names a key that the state does not have.
    """
    try:
        found = parse(text)
    except ExpressionError as error:
        raise _refused(error, field) from None
    unknown = sorted((found.keys | found.earlier) - known) if known else []
    if unknown:
        keys = ", ".join(sorted(known))
        raise refuse(f"The state has no key {unknown[0]!r}; its keys are {keys}.", field=field)
    return found


def _refused(error: ExpressionError, field: str) -> SessionError:
    return refuse(str(error), field=field, column=error.column)


def _check_text(source: str) -> None:
    if len(source) > MAX_CHARS:
        raise ExpressionError(f"The expression is longer than {MAX_CHARS} characters.")
    for at, char in enumerate(source, 1):
        if literal(char) != char:
            raise ExpressionError(f"There is a character here that cannot be seen: {literal(char)}.", at)
    # Python would warn of these, and take them as they are.
    wrong = ESCAPES.search(PAIRED.sub("  ", source))
    if wrong is not None:
        raise ExpressionError("\\ begins no escape here; write \\\\ for the character itself.", wrong.start() + 1)


def _count_characters(tree: ast.expr, source: bytes) -> None:
    """Python counts columns in bytes; people count characters."""
    for node in ast.walk(tree):
        if isinstance(node, ast.expr):
            node.col_offset = len(source[: node.col_offset].decode(errors="ignore"))


@dataclass(slots=True)
class _Check:
    """Goes through a tree once, refusing all that is not listed, and notes the keys."""

    keys: set[str] = field(default_factory=set)
    earlier: set[str] = field(default_factory=set)
    parts: int = 0

    def part(self, node: ast.AST, depth: int, bound: frozenset[str]) -> None:
        """Check a part and what is in it; `bound` are the names that comprehensions around it give."""
        self.parts += 1
        if depth > MAX_DEPTH or self.parts > MAX_PARTS:
            raise ExpressionError("The expression is nested too deep." if depth > MAX_DEPTH else "It is too long.")
        check = CHECKS.get(type(node))
        if check is None:
            words = WORDS.get(type(node), "This cannot be written in an expression here.")
            raise self.error(words.format(name=getattr(node, "attr", "")), node)
        check(self, node, depth + 1, bound)

    def error(self, message: str, node: ast.AST) -> ExpressionError:
        """Return the error at a part."""
        return ExpressionError(message, getattr(node, "col_offset", 0) + 1)

    def below(self, node: ast.AST, depth: int, bound: frozenset[str]) -> None:
        """Check all that is in a part which is allowed as it is."""
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                self.part(child, depth, bound)

    def constant(self, node: ast.Constant, depth: int, bound: frozenset[str]) -> None:
        """Numbers, texts, True, False and None."""
        if type(node.value) not in (bool, int, float, str, type(None)):
            raise self.error(f"There are no values of type {type(node.value).__name__} here.", node)

    def name(self, node: ast.Name, depth: int, bound: frozenset[str]) -> None:
        """A key of the state, or a name that a comprehension gives."""
        if node.id.startswith("__"):
            raise self.error(f"{node.id} is no key of the state.", node)
        if node.id not in bound and node.id not in CONSTANTS:
            self.keys.add(node.id)

    def operation(self, node: ast.BinOp | ast.UnaryOp, depth: int, bound: frozenset[str]) -> None:
        """Arithmetic, and `not`."""
        if type(node.op) not in OPERATORS:
            raise self.error("This operator is not part of expressions here; there are + - * / // % ** and not.", node)
        self.below(node, depth, bound)

    def compare(self, node: ast.Compare, depth: int, bound: frozenset[str]) -> None:
        """Comparisons; `is` only asks for None, True and False."""
        for operator, right in zip(node.ops, node.comparators, strict=True):
            known = isinstance(right, ast.Constant) and right.value in (None, True, False)
            known = known or (isinstance(right, ast.Name) and right.id in CONSTANTS)
            if isinstance(operator, (ast.Is, ast.IsNot)) and not known:
                raise self.error("`is` asks for None, True or False; compare other values with ==.", right)
        self.below(node, depth, bound)

    def subscript(self, node: ast.Subscript, depth: int, bound: frozenset[str]) -> None:
        """An item or a slice; a slice stands nowhere else."""
        self.part(node.value, depth, bound)
        if isinstance(node.slice, ast.Slice):
            self.below(node.slice, depth, bound)
        else:
            self.part(node.slice, depth, bound)

    def mapping(self, node: ast.Dict, depth: int, bound: frozenset[str]) -> None:
        """A dict without others taken apart in it."""
        if any(key is None for key in node.keys):
            raise self.error("There is no ** in a dict here.", node)
        self.below(node, depth, bound)

    def call(self, node: ast.Call, depth: int, bound: frozenset[str]) -> None:
        """A call of a listed function, by position only."""
        if not isinstance(node.func, ast.Name) or node.func.id not in FUNCTIONS:
            named = f"There is no function {node.func.id}" if isinstance(node.func, ast.Name) else "Only functions"
            listed = ", ".join(sorted(FUNCTIONS))
            say = f"{named}; these can be called: {listed}."
            raise self.error(say if isinstance(node.func, ast.Name) else f"Only these can be called: {listed}.", node)
        name, given = node.func.id, node.args
        least, most, _ = FUNCTIONS[name]
        if node.keywords:
            raise self.error(f"{name} takes its values by position; there is no {name}(...=...) here.", node)
        if not least <= len(given) <= most:
            wanted = str(least) if least == most else f"{least} to {most}" if most < MANY else f"{least} or more"
            raise self.error(f"{name} takes {wanted} {'value' if wanted == '1' else 'values'}, not {len(given)}.", node)
        if name in STATE:
            self.key(node, name, given[0])
            return
        for argument in given:
            if isinstance(argument, ast.GeneratorExp) and name in ITERATING and len(given) == 1:
                self.comprehension(argument, depth + 1, bound)
            else:
                self.part(argument, depth, bound)

    def key(self, node: ast.Call, name: str, argument: ast.expr) -> None:
        """The functions that read the state by a key; which one must be seen without evaluating anything."""
        if not isinstance(argument, ast.Constant) or not isinstance(argument.value, str):
            raise self.error(f'{name} takes the name of a key in quotes, as in {name}("key").', node)
        if name != "before":
            self.keys.add(argument.value)
        if name in ("before", "changed"):
            self.earlier.add(argument.value)

    def comprehension(
        self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp, depth: int, bound: frozenset[str]
    ) -> None:
        """A list or set made from others; it is bounded by what an evaluation may look at."""
        for generator in node.generators:
            self.part(generator.iter, depth, bound)
            targets = generator.target.elts if isinstance(generator.target, ast.Tuple) else [generator.target]
            for target in targets:
                if not isinstance(target, ast.Name) or target.id.startswith("__") or target.id in CONSTANTS:
                    raise self.error("`for` takes plain names here.", target)
                bound |= {target.id}
            if generator.is_async:
                raise self.error("There is no async here.", node)
            for condition in generator.ifs:
                self.part(condition, depth, bound)
        self.part(node.elt, depth, bound)


CHECKS: dict[type[ast.AST], Callable[[_Check, Any, int, frozenset[str]], None]] = {
    ast.Constant: _Check.constant,
    ast.Name: _Check.name,
    ast.BinOp: _Check.operation,
    ast.UnaryOp: _Check.operation,
    ast.Subscript: _Check.subscript,
    ast.Compare: _Check.compare,
    ast.Dict: _Check.mapping,
    ast.Call: _Check.call,
    ast.ListComp: _Check.comprehension,
    ast.SetComp: _Check.comprehension,
    **dict.fromkeys((ast.BoolOp, ast.IfExp, ast.List, ast.Tuple, ast.Set), _Check.below),
}
