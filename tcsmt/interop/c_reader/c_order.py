"""C whose meaning depends on an order of evaluation that the language leaves open.

``t + (t = x)`` is undefined, and in ``f() + g()`` a compiler chooses which function runs first. An
intermediate language shows one order alone, so this is decided on the syntax tree: where the language orders
two parts of an expression in no way, neither may change what the other one reads or changes. What cannot be
told apart counts as the same object: some well-defined C is refused, and no undefined C is accepted.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tcsmt.interop.c_reader.c_tree import CNode, CTree
from tcsmt.support.errors import TcsmtError

#: Functions that are not in the file: those that only have a value, as clang's own have, if they take no
#: pointers; and those that copy or fill what their first argument leads to.
_PURE = frozenset(("abs", "labs", "llabs"))
_BYTES = frozenset(("memcpy", "memmove", "memset"))
#: Expressions whose parts are evaluated in any order, and which change nothing themselves.
_PLAIN = frozenset(
    ("ParenExpr", "ConstantExpr", "ImplicitCastExpr", "CStyleCastExpr", "InitListExpr", "DesignatedInitExpr",
     "IntegerLiteral", "CharacterLiteral", "FloatingLiteral", "StringLiteral", "ImplicitValueInitExpr",
     "CompoundLiteralExpr", "GenericSelectionExpr", "PredefinedExpr")
)  # fmt: skip
#: Expressions of which nothing is evaluated.
_UNEVALUATED = frozenset(("UnaryExprOrTypeTraitExpr", "OffsetOfExpr"))

#: What stands for memory: behind a pointer variable (its identity), or behind any pointer.
_ANYWHERE = ""


@dataclass(frozen=True)
class _Place:
    """An object or a part of it.

    base: a variable's identity; behind: it is a pointer (``_ANYWHERE``: any), and this is what it leads to.
    path: members and elements into it; None: one of them that is not known. name: for messages.
    """

    base: str
    behind: bool
    path: tuple[str | int | None, ...]
    name: str

    def part(self, step: str | int | None) -> _Place:
        return _Place(self.base, self.behind, (*self.path, step), self.name)

    @property
    def whole(self) -> _Place:
        """Return the variable, or all that the pointer leads to."""
        return _Place(self.base, self.behind, (), self.name)


_MEMORY = _Place(_ANYWHERE, True, (), "what a pointer leads to")
_Places = frozenset[_Place]


@dataclass(frozen=True)
class _Effects:
    """Effects of an expression. pending: changes that need not be done when it has its value."""

    reads: _Places = frozenset()
    writes: _Places = frozenset()
    pending: _Places = frozenset()

    def __or__(self, other: _Effects) -> _Effects:
        return _together((self, other))

    @property
    def settled(self) -> _Effects:
        """Return the effects behind a sequence point."""
        return _Effects(self.reads, self.writes)


def check_order(tree: CTree, name: str) -> None:
    """Check that the result of a function depends on no order that C leaves open.

    Raises :class:`.TcsmtError`, with file and line, where it may.
    """
    try:
        _Checking(tree, tree.called_from(name)).run()
    except RecursionError:
        raise TcsmtError(f"{name}: expressions or statements are nested too deeply") from None


class _Checking:
    def __init__(self, tree: CTree, functions: Sequence[CNode]) -> None:
        self.tree = tree
        self.functions = functions
        self.shared = {variable for function in functions for variable in _addressed(function)}
        self.own = {function.name: _declared_in(function) for function in functions}
        self.local = frozenset().union(*self.own.values())
        #: What a call of each function does to what its caller can see.
        self.calls: dict[str, _Effects] = {function.name: _Effects() for function in functions}

    def run(self) -> None:
        for function in self.functions:
            _check_jumps(function)
        while True:
            before = dict(self.calls)
            for function in self.functions:
                self.calls[function.name] = self._visible(self.statement(function), function)
            if self.calls == before:
                return

    def _visible(self, seen: _Effects, function: CNode) -> _Effects:
        """Return what a function's caller can tell of what it does: its own variables end with it.

        What a parameter leads to stays by that name, as long as the parameter leads to the same object.
        """
        variables = self.own[function.name]
        moved = {place.base for place in seen.writes if not place.behind} | self.shared
        parameters = set(_parameters(function)) - moved

        def outside(places: _Places) -> _Places:
            behind = {
                place.whole if place.base in parameters else _MEMORY for place in places if place.behind
            }
            return frozenset(
                behind | {place for place in places if not place.behind and place.base not in variables}
            )

        return _Effects(outside(seen.reads), outside(seen.writes))

    def statement(self, node: CNode) -> _Effects:
        """Check a statement or declaration, whose expressions are evaluated one after the other."""
        if node.is_expression:
            return self.value(node).settled
        effects = _together(map(self.statement, node.inner))
        if node.kind == "VarDecl" and node.inner and node.inner[-1].is_expression:
            label = _Place(str(node.data["id"]), False, (), node.name)
            self._apart(
                _Effects(writes=frozenset((label,))),
                _Effects(writes=self.value(node.inner[-1]).pending),
                node,
            )
        return effects

    def value(self, node: CNode) -> _Effects:
        """Return what the evaluation of an expression does."""
        kind, inner = node.kind, node.inner
        if kind in _UNEVALUATED:
            return _Effects()
        if kind in ("DeclRefExpr", "MemberExpr", "ArraySubscriptExpr") or (
            kind == "UnaryOperator" and node.opcode == "*"
        ):
            return self.object(node)[1]
        if node.cast == "LValueToRValue":
            place, effects = self.object(inner[0])
            constant = inner[0].type.startswith("const ") and not place.behind
            return effects if constant else effects | _Effects(reads=frozenset((place,)))
        if kind == "UnaryOperator" and node.opcode in ("++", "--"):
            place, effects = self.object(inner[0])
            here = frozenset((place,))
            return effects | _Effects(here, here, here)
        if kind == "CompoundAssignOperator" or (kind == "BinaryOperator" and node.opcode == "="):
            return self._assigned(node)
        if kind == "BinaryOperator" and node.opcode in (",", "&&", "||"):
            return self.value(inner[0]).settled | self.value(inner[1])
        if kind in ("ConditionalOperator", "BinaryConditionalOperator"):
            first, *rest = map(self.value, inner)
            return _together([first.settled, *rest])
        if kind == "CallExpr":
            return self._called(node)
        if kind == "StmtExpr":
            return self.statement(inner[0])
        if kind in _PLAIN or kind in ("UnaryOperator", "BinaryOperator"):
            return self._any_order([self.value(part) for part in inner if part.is_expression], node)
        raise TcsmtError(f"{node.place}: {kind} is not supported")

    def _assigned(self, node: CNode) -> _Effects:
        place, effects = self.object(node.inner[0])
        right = self.value(node.inner[1])
        here = frozenset((place,))
        if node.kind == "CompoundAssignOperator":
            effects |= _Effects(reads=here)
        both = self._any_order([effects, right], node)
        self._apart(_Effects(writes=here), _Effects(writes=both.pending), node)
        return both | _Effects(writes=here, pending=here)

    def _called(self, node: CNode) -> _Effects:
        effects = self._any_order([self.value(part) for part in node.inner], node).settled
        name = next(
            (str(part.declared.get("name", "")) for part in node.inner[0].walk() if part.declared), ""
        )
        targets = [self._target(part) if "*" in part.type else None for part in node.inner[1:]]
        if name in self.calls:
            parameters = _parameters(self.tree.functions[name])
            led = {part: place for part, place in zip(parameters, targets, strict=False) if place is not None}

            def named(places: _Places) -> _Places:
                return frozenset(led.get(part.base, part) if part.behind else part for part in places)

            called = self.calls[name]
            return effects | _Effects(named(called.reads), named(called.writes))
        plain = name.removeprefix("__builtin_")
        if plain in _BYTES and targets and targets[0] is not None:
            source = {part for part in targets[1:] if part is not None}
            return effects | _Effects(frozenset(source), frozenset((targets[0],)))
        if (name != plain or plain in _PURE) and not any(targets):
            return effects
        return effects | _Effects(frozenset((_MEMORY,)), frozenset((_MEMORY,)))

    def _target(self, pointer: CNode) -> _Place:
        """Return the whole object that a pointer leads into."""
        node = _plain(pointer)
        while node.cast == "BitCast" or (node.kind == "BinaryOperator" and node.opcode in ("+", "-")):
            node = _plain(next(part for part in node.inner if node.cast or "*" in part.type))
        if node.cast == "ArrayToPointerDecay" or (node.kind == "UnaryOperator" and node.opcode == "&"):
            return self.object(node.inner[0])[0].whole
        return self._pointed(node)[0]

    def object(self, node: CNode) -> tuple[_Place, _Effects]:
        """Return which object an expression stands for, and what it takes to know that."""
        inner = node.inner
        if node.kind in ("ParenExpr", "ConstantExpr") or node.cast in ("NoOp", "LValueBitCast"):
            return self.object(inner[0])
        if node.kind == "DeclRefExpr":
            declared = node.declared
            name = str(declared.get("name", ""))
            return _Place(str(declared.get("id", name)), False, (), name), _Effects()
        if node.kind == "MemberExpr":
            union = str(node.data.get("referencedMemberDecl")) in self.tree.unions
            base, effects = self._behind(inner[0]) if node.data.get("isArrow") else self.object(inner[0])
            return base.part(None if union else node.name), effects
        if node.kind == "ArraySubscriptExpr":
            left, right = inner if "*" in inner[0].type else reversed(inner)
            array = _array(left)
            base, effects = self.object(array) if array is not None else self._pointed(left)
            index = self.value(right)
            return base.part(_number(right)), self._any_order([effects, index], node)
        if node.kind == "UnaryOperator" and node.opcode == "*":
            return self._behind(inner[0])
        return _MEMORY, self.value(node)

    def _behind(self, pointer: CNode) -> tuple[_Place, _Effects]:
        array = _array(pointer)
        base, effects = self.object(array) if array is not None else self._pointed(pointer)
        return base.part(0), effects

    def _pointed(self, pointer: CNode) -> tuple[_Place, _Effects]:
        """Return what a pointer leads to: something of its own where it is a variable."""
        effects = self.value(pointer)
        plain = _plain(pointer)
        if plain.cast == "LValueToRValue" and (name := _plain(plain.inner[0])).kind == "DeclRefExpr":
            declared = name.declared
            return _Place(str(declared["id"]), True, (), f"what {declared['name']} leads to"), effects
        return _MEMORY, effects

    def _any_order(self, parts: Sequence[_Effects], node: CNode) -> _Effects:
        for number, part in enumerate(parts):
            for other in parts[number + 1 :]:
                self._apart(part, other, node)
        return _together(parts)

    def _apart(self, first: _Effects, second: _Effects, node: CNode) -> None:
        """Check that neither changes what the other reads or changes."""
        for left, right in ((first, second), (second, first)):
            for written in left.writes:
                for touched in right.reads | right.writes:
                    if self._may_meet(written, touched):
                        both = (
                            written.name
                            if written.name == touched.name
                            else f"{written.name}, {touched.name}"
                        )
                        raise TcsmtError(
                            f"{node.place}: the result depends on an order of evaluation that C leaves open"
                            f" ({both}): make it several statements"
                        )

    def _may_meet(self, first: _Place, second: _Place) -> bool:
        if (first.base, first.behind) == (second.base, second.behind) and first.base != _ANYWHERE:
            pairs = zip(first.path, second.path, strict=False)
            return all(x is None or y is None or x == y for x, y in pairs)
        if first.behind and second.behind:
            return True
        if first.behind != second.behind:
            variable = second if first.behind else first
            return variable.base in self.shared or variable.base not in self.local
        return False


def _check_jumps(function: CNode) -> None:
    """Check that no jump leads past a declaration into a block that was entered before.

    A variable would keep what it held the last time, though it is another one.
    """
    labels: set[str] = set()
    again = False
    for node in function.walk():
        labels |= {str(node.data.get("declId"))} if node.kind == "LabelStmt" else set()
        again = again or (node.kind == "GotoStmt" and str(node.data.get("targetLabelDeclId")) in labels)
    for block in function.walk():
        if block.kind != "CompoundStmt" or (block in function.inner and not again):
            continue
        declared = ""
        for statement in block.inner:
            if statement.kind == "DeclStmt":
                declared = statement.inner[0].name
            elif declared and statement.kind in ("CaseStmt", "DefaultStmt", "LabelStmt"):
                raise TcsmtError(
                    f"{statement.place}: a jump past the declaration of {declared} is not supported"
                )


def _together(parts: Iterable[_Effects]) -> _Effects:
    parts = list(parts)
    return _Effects(
        frozenset().union(*(part.reads for part in parts)),
        frozenset().union(*(part.writes for part in parts)),
        frozenset().union(*(part.pending for part in parts)),
    )


def _plain(node: CNode) -> CNode:
    """Return an expression without parentheses."""
    while node.kind in ("ParenExpr", "ConstantExpr") or node.cast == "NoOp":
        node = node.inner[0]
    return node


def _array(pointer: CNode) -> CNode | None:
    """Return the array whose first element a pointer leads to, where it is an array's name or a part of
    one.
    """
    node = _plain(pointer)
    return node.inner[0] if node.cast == "ArrayToPointerDecay" else None


def _number(index: CNode) -> int | None:
    """Return the value of an index that is a number."""
    node = _plain(index)
    while node.cast == "IntegralCast":
        node = _plain(node.inner[0])
    return int(node.data["value"]) if node.kind == "IntegerLiteral" else None


def _addressed(function: CNode) -> set[str]:
    """Return the variables that a pointer may lead to: their address is taken, or they are arrays."""
    variables: set[str] = set()
    direct: set[CNode] = set()
    for node in function.walk():
        if node.kind == "ArraySubscriptExpr":
            direct |= {_plain(part) for part in node.inner}
        taken = node.kind == "UnaryOperator" and node.opcode == "&"
        if taken or (node.cast == "ArrayToPointerDecay" and node not in direct):
            variable = node.inner[0]
            while variable.kind != "DeclRefExpr" and variable.inner:
                variable = variable.inner[0]
            if variable.declared:
                variables.add(str(variable.declared["id"]))
    return variables


def _parameters(function: CNode) -> list[str]:
    return [str(node.data["id"]) for node in function.inner if node.kind == "ParmVarDecl"]


def _declared_in(function: CNode) -> frozenset[str]:
    """Return the variables of a function that end with it."""
    return frozenset(
        str(node.data["id"])
        for node in function.walk()
        if node.kind in ("VarDecl", "ParmVarDecl") and node.data.get("storageClass") != "static"
    )
