"""C that reads an object as what it is not, or where it is not: casts, addresses into unions, ended objects.

An optimiser takes it that pointers to different types lead to different objects, and that what is const does
not change; an intermediate language without optimisation shows neither. So a pointer may only be made one to
characters or to void, or to the same type with another sign or more qualifiers; bytes are read as a number by
``memcpy`` or a union. The bytes of a pointer are not read in these ways: they could become one to another
type. What a pointer leads to is then what its type says.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from tcsmt.interop.c_reader.c_tree import CNode, CTree
from tcsmt.support.errors import TcsmtError

_QUALIFIERS = re.compile(r"\b(const|volatile|restrict)\b")
_CHARACTERS = ("char", "signed char", "unsigned char")
#: Casts that make a pointer another one.
_CONVERSIONS = ("BitCast", "IntegralToPointer", "LValueBitCast")
#: Attributes of functions that say nothing about what they do.
_HARMLESS = frozenset(
    ("AlwaysInlineAttr", "NoInlineAttr", "UnusedAttr", "UsedAttr", "VisibilityAttr", "TargetClonesAttr",
     "TargetAttr", "NoThrowAttr", "HotAttr", "ColdAttr", "FlattenAttr", "WarnUnusedResultAttr",
     "OptimizeNoneAttr", "NoDebugAttr", "DeprecatedAttr")
)  # fmt: skip


def check_pointers(tree: CTree, name: str) -> None:
    """Check that a function, and what it calls, reads objects as what they are.

    Raises :class:`.TcsmtError`, with file and line, where that is not so, or cannot be told.
    """
    named = sorted(tree.labelled & set(tree.functions))
    if named:
        raise TcsmtError(f"{tree.functions[named[0]].place}: {named[0]}: an asm label is not supported")
    for function in tree.called_from(name):
        for declared in (function, *(part for part in function.walk() if part.kind.endswith("Decl"))):
            for attribute in declared.inner:
                if attribute.kind.endswith("Attr") and attribute.kind not in _HARMLESS:
                    kind = attribute.kind.removesuffix("Attr").lower()
                    raise TcsmtError(
                        f"{declared.place}: {declared.name}: the attribute {kind} is not supported"
                    )
        _check_restrict(tree, function)
        _check_objects(function)
        indexed = {
            _plain(part)
            for node in function.walk()
            if node.kind == "ArraySubscriptExpr"
            for part in node.inner
        }
        for node in function.walk():
            _check(tree, node, indexed)


def _check(tree: CTree, node: CNode, indexed: set[CNode]) -> None:
    if node.cast in _CONVERSIONS or (node.cast == "NoOp" and "*" in node.type):
        why = _converted(tree, node)
    elif node.kind == "MemberExpr" and str(node.data.get("referencedMemberDecl")) in tree.unions:
        why = "a union with a pointer is not supported" if _holds_pointer(tree, node.type) else ""
    elif node.cast in ("IntegralCast", "IntegralToFloating") and _is_plain_char(tree, node.inner[0]):
        # signed on x86, not on Arm; as a byte alone, it is the same on both
        why = "the number in a plain char is not supported: say signed char or unsigned char"
    elif node.kind == "VarDecl" and "restrict" in _written(node):
        why = f"restrict on the variable {node.name} is not supported"
    elif str(node.declared.get("name", "")) in tree.labelled:
        why = f"{node.declared['name']} has an asm label, which is not supported"
    elif node.kind == "CallExpr" and _lacks_prototype(tree, node):
        why = "a function is called without a prototype, so that its arguments are not converted"
    elif _is_variable_array(node):
        why = "an array whose size is not constant is not supported"
    elif node.kind == "MemberExpr" and str(node.data.get("referencedMemberDecl")) in tree.wide:
        why = f"the bit-field {node.name}, whose type is wider than int, is not supported"
    elif node.kind == "MemberExpr" and "restrict" in node.type:
        why = f"restrict on the member {node.name} is not supported"
    elif (node.kind == "UnaryOperator" and node.opcode == "&") or (
        node.cast == "ArrayToPointerDecay" and node not in indexed
    ):
        to = _pointee(node.type, tree.types)
        inside = _in_union(tree, node.inner[0]) and (to is None or to[0] not in _CHARACTERS)
        why = "the address of a member of a union is not supported" if inside else ""
    else:
        why = ""
    if why:
        raise TcsmtError(f"{node.place}: {why}")


def _is_plain_char(tree: CTree, node: CNode) -> bool:
    """Return whether an expression is a char whose sign the processor decides, under any name."""
    name = " ".join(_QUALIFIERS.sub(" ", node.type).split())
    while name in tree.types:
        name = " ".join(_QUALIFIERS.sub(" ", tree.types[name]).split())
    return name == "char"


def _written(node: CNode) -> str:
    """Return a type as it is written, and what the names in it stand for."""
    kind = node.data.get("type", {})
    return f"{kind.get('qualType', '')} {kind.get('desugaredQualType', '')}"


def _lacks_prototype(tree: CTree, call: CNode) -> bool:
    """Return whether a call passes arguments, or leaves some out, with no declaration of what the function
    takes.
    """
    if not call.inner[0].type.endswith("()"):
        return False
    name = next((str(part.declared.get("name", "")) for part in call.inner[0].walk() if part.declared), "")
    if name.startswith("__builtin_"):
        return False
    function = tree.functions.get(name)
    takes_none = function is not None and all(part.kind != "ParmVarDecl" for part in function.inner)
    return len(call.inner) > 1 or not takes_none


def _is_variable_array(node: CNode) -> bool:
    """Return whether a declaration, or what sizeof measures, has an array whose size is computed."""
    texts = (
        [_written(node)] if node.kind in ("VarDecl", "ParmVarDecl", "CStyleCastExpr", "TypedefDecl") else []
    )
    if node.kind == "UnaryExprOrTypeTraitExpr":
        texts = [*map(str, node.data.get("argType", {}).values()), *map(_written, node.inner)]
    return any(re.search(r"\[[^\]\d]", text) for text in texts)


def _check_restrict(tree: CTree, function: CNode) -> None:
    """Check that what a restrict parameter leads to is not reached through a pointer that memory holds.

    What pointers in parameters lead to is compared; pointers that lie behind them, or in variables of the
    file, are not.
    """
    parameters = [part for part in function.inner if part.kind == "ParmVarDecl"]
    restricted = [part for part in parameters if "restrict" in _written(part)]
    for part in restricted:
        plain = str(part.data.get("type", {}).get("desugaredQualType", part.type)) or part.type
        if plain.count("restrict") > 1 or not plain.rstrip().endswith("restrict"):
            raise TcsmtError(f"{part.place}: {part.name}: restrict behind a pointer is not supported")
    if not restricted:
        return
    inside = [part for part in parameters if _leads_to_pointer(tree, part)]
    declared_here = {str(part.data.get("id")) for part in function.walk()}
    shared = [
        node
        for node in function.walk()
        if node.declared.get("kind") == "VarDecl"
        and str(node.declared.get("id")) not in declared_here
        and _holds_pointer(tree, node.type)
    ]
    if inside or shared:
        other = inside[0].name if inside else str(shared[0].declared.get("name", ""))
        why = f"{restricted[0].name} is restrict, but {other} leads to a pointer: not supported"
        raise TcsmtError(f"{restricted[0].place}: {why}")


def _leads_to_pointer(tree: CTree, parameter: CNode) -> bool:
    """Return whether a parameter holds a pointer beside itself, or leads to one."""
    pointee = _pointee(parameter.type, tree.types)
    return _holds_pointer(tree, parameter.type if pointee is None else pointee[0])


def _check_objects(function: CNode) -> None:
    """Check that no pointer is made to an object that ends before its function."""
    indexed = {
        _plain(part) for node in function.walk() if node.kind == "ArraySubscriptExpr" for part in node.inner
    }
    for node in function.walk():
        decays = (node.cast == "ArrayToPointerDecay" and node not in indexed) or (
            node.kind == "UnaryOperator" and node.opcode == "&"
        )
        if not decays:
            continue
        inner = _plain(node.inner[0])
        while (
            (inner.kind == "MemberExpr" and not inner.data.get("isArrow"))
            or inner.kind in ("ArraySubscriptExpr", "MaterializeTemporaryExpr")
            or inner.cast in ("ArrayToPointerDecay", "NoOp")
        ):
            inner = _plain(inner.inner[0])
        if inner.kind == "CompoundLiteralExpr":
            raise TcsmtError(f"{node.place}: a pointer to a compound literal is not supported")
        if inner.kind == "CallExpr" and "*" not in inner.type:
            raise TcsmtError(f"{node.place}: a pointer into the result of a function is not supported")


def _converted(tree: CTree, node: CNode) -> str:
    """Return why a pointer cannot become what a cast makes of it; empty where it can."""
    (operand,) = (inner for inner in node.inner if inner.is_expression)
    source = _pointee(operand.type, tree.types)
    why = _refused(_pointee(node.type, tree.types), source)
    if source is not None and _holds_pointer(tree, source[0]) and node.cast != "NoOp":
        why = why or "the bytes of a pointer are not read"
    return why and f"{operand.type} is made {node.type}: {why}"


def _refused(target: tuple[str, bool] | None, source: tuple[str, bool] | None) -> str:
    """Return why a pointer to the one cannot become a pointer to the other; empty where it can."""
    if target is None or source is None:
        return "only a pointer can be made a pointer"
    if source[1] and not target[1]:
        return "what is const must stay so"
    if target[0] in ("void", *_CHARACTERS) or _unsigned(target[0]) == _unsigned(source[0]):
        return ""
    return "an object is read as what it is only; copy its bytes by memcpy"


def _pointee(text: str, types: Mapping[str, str]) -> tuple[str, bool] | None:
    """Return what a pointer leads to, as C itself names it, and whether it is const; None: it is no
    pointer.
    """
    text = _named(text, types)
    if not text.rstrip().endswith("*"):
        return None
    inner = text.rstrip()[:-1].strip()
    const = False
    while True:
        const = const or bool(re.search(r"\bconst\b", inner.rpartition("*")[2]))
        plain = " ".join(_QUALIFIERS.sub(" ", inner).split()) if "*" not in inner else inner
        if plain not in types:
            return plain, const
        inner = types[plain]


def _holds_pointer(tree: CTree, text: str) -> bool:
    """Return whether an object of this type is or has a pointer, or may have one."""
    text = _QUALIFIERS.sub(" ", re.sub(r"\[\d*\]", " ", text))
    text = " ".join(text.split())
    if "*" in text:
        return True
    if text in tree.types and tree.types[text] != text:
        return _holds_pointer(tree, tree.types[text])
    kind, _, name = text.partition(" ")
    if kind not in ("struct", "union"):
        return False
    if "(" in name:  # it has none: any of these
        return any(_holds_pointer(tree, member) for member in tree.records.get("", ()) if "(" not in member)
    return name not in tree.records or any(_holds_pointer(tree, member) for member in tree.records[name])


def _named(text: str, types: Mapping[str, str]) -> str:
    """Return a type without the qualifiers of the pointer itself, and without a name for all of it."""
    while True:
        text = re.sub(r"(?<=\*)\s*((const|volatile|restrict)\s*)+$", "", text.strip())
        plain = " ".join(_QUALIFIERS.sub(" ", text).split())
        if plain not in types or text.endswith("*"):
            return text
        text = types[plain]


def _unsigned(name: str) -> str:
    """Return a type's name without its sign: objects of either are read alike."""
    words = [word for word in name.split() if word not in ("unsigned", "signed")]
    return " ".join(words) or "int"


def _in_union(tree: CTree, node: CNode) -> bool:
    """Return whether an object is a member of a union, or a part of one."""
    while node.inner and node.kind != "CallExpr":
        if str(node.data.get("referencedMemberDecl")) in tree.unions:
            return True
        if node.data.get("isArrow") or node.cast == "LValueToRValue":
            return False
        node = node.inner[0]
    return False


def _plain(node: CNode) -> CNode:
    while node.kind == "ParenExpr":
        node = node.inner[0]
    return node
