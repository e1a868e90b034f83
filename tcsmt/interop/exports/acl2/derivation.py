"""A certificate's proof as events of ACL2: each lemma a theorem, and what follows from the lemmas another.

The words on which the proof rests (what is cut, replaced, a fact or a case) are in lists ``(nodes-N ...)``,
functions of the inputs: those that are made of the same inputs in one, as ACL2 simulates all of a list for
each theorem about a word in it. Of each step that closes a branch there are

    lemma-L    no words satisfy the formula: over free words where the certificate cuts, refuted as clauses
    before-K   the goal, with every replaced node an argument, is true of the nodes' own values
    after-K    what is true of the values by which they are replaced satisfies the formula
    closed-K   so the branch's assumptions contradict each other

and of each fact and each replacement the theorem that it holds under the assumptions of its branch. How they
compose is for ACL2 to check: nothing here is trusted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field

from tcsmt.language.terms import Term, all_of, expand, operands_first, substitute
from tcsmt.language.write.acl2 import Acl2Writer, Parts, defined, variables_of
from tcsmt.prove.certificates.derivation import Cases, Close, Equal, Fact, Proof, Step, conjuncts
from tcsmt.support.escaping import lisp_string

#: What simulations have kept is given up after so many of a book. It takes a second.
FORGOTTEN, _KEPT = "(forgotten)", 200


@dataclass(frozen=True)
class BookEvent:
    """One event of a book. text: as ACL2 reads it. lemma: the name of the theorem, if clauses are refuted."""

    text: str
    lemma: str = ""

    def in_book(self, folder: str) -> str:
        """Return the event with the refutation in its file. folder: of the book's refutations."""
        if not self.lemma:
            return self.text
        return f"(with-refutation {lisp_string(refutation_file(folder, self.lemma))}\n{self.text})"


@dataclass(frozen=True)
class _Source:
    """A fact that holds in a branch. term: as a truth value; literal: as ACL2 says it.

    theorem: by which it follows from the branch's assumptions; empty: it is one of them.
    """

    term: Term
    literal: str
    theorem: str = ""


@dataclass(frozen=True)
class _Replaced:
    """A node with the value of another. theorem: that says so."""

    node: Term
    to: Term
    theorem: str


@dataclass(frozen=True)
class _Branch:
    """A place in the proof: what is assumed and known there, and what is replaced."""

    sources: tuple[_Source, ...]
    replaced: tuple[_Replaced, ...]

    @property
    def assumed(self) -> list[str]:
        return [source.literal for source in self.sources if not source.theorem]

    def also(self, *sources: _Source) -> _Branch:
        return _Branch((*self.sources, *sources), self.replaced)

    @property
    def replacement(self) -> dict[Term, Term]:
        return {one.node: one.to for one in self.replaced}


@dataclass
class Derivation:
    """The events that prove that no input satisfies the goal.

    goal: a truth value. widths: of the inputs, by name. events: in order; the last theorem is ``refuted``:
    its formula says that the goal is false for all words.
    """

    goal: Term
    widths: Mapping[str, int]
    proof: Proof
    events: list[BookEvent] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.inputs = variables_of(self.widths)
        self.write = Acl2Writer(self.inputs)
        self.args = " ".join(self.inputs.values())
        self._parts = Parts(self.write)
        #: The nodes of each list, by what they are made of, and the place of each node.
        self._lists: dict[tuple[int, int], list[Term]] = {}
        self._places: dict[Term, str] = {}
        #: The names of lemmas, by the formula's function and the widths of its words.
        self._lemmas: dict[tuple[str, tuple[tuple[str, int], ...]], str] = {}
        self._count = self._simulations = 0
        self._pending: list[BookEvent] = []
        top = _Branch((_Source(self.goal, self.holds(self.goal)),), ())
        last = self._proved(self.goal, top, self.proof)
        self._theorem("refuted", f"(not {self.holds(self.goal)})", [], [last])
        lists = self._list_events()
        parts = [BookEvent(text) for text in self._parts.definitions]
        self.events += [self._words_event(), *parts, *lists, *self._pending]

    # --- what is written of words

    def node(self, node: Term) -> str:
        """Return the value of a node, as an element of the list that has it."""
        if node.op == "var":
            return self.inputs[str(node.data)]
        if node.value is not None:
            return str(node.value)
        if node not in self._places:
            (written,) = expand([node])
            below = self.write.below(written)
            others = self._lists.setdefault(below, [])
            self._places[node] = f"(nth {len(others)} {self._list(below)})"
            others.append(written)
        return self._places[node]

    def _list(self, below: tuple[int, int]) -> str:
        """Return the list of nodes that are made of these inputs."""
        return f"({' '.join([f'nodes-{[*self._lists].index(below)}', *self._below(below)])})"

    def _below(self, below: tuple[int, int]) -> list[str]:
        return [variable for number, variable in enumerate(self.inputs.values()) if below[1] >> number & 1]

    def holds(self, node: Term) -> str:
        """Prove that a truth value is 1."""
        return f"(equal {self.node(node)} 1)"

    def _words_event(self) -> BookEvent:
        sizes = " ".join(f"(unsigned-byte-p {w} {self.inputs[name]})" for name, w in self.widths.items())
        return BookEvent(f"(defun words-p ({self.args})\n  (and {sizes}))")

    def _list_events(self) -> list[BookEvent]:
        events = []
        for number, (below, nodes) in enumerate(self._lists.items()):
            bindings, results = self._parts.bindings(nodes, {})
            value = f"(list {' '.join(results)})"
            events.append(BookEvent(defined(f"nodes-{number}", self._below(below), bindings, value)))
        return events

    # --- steps

    def _proved(self, goal: Term, branch: _Branch, proof: Proof) -> str:
        """Return the theorem that the branch's assumptions contradict each other."""
        for step in proof[:-1]:
            branch = self._learned(branch, step)
        match proof[-1]:
            case Close() as last:
                return self._closed(goal, branch, last)
            case Cases() as last:
                return self._cases(goal, branch, last)
        raise AssertionError(proof[-1])

    def _learned(self, branch: _Branch, step: Step) -> _Branch:
        match step:
            case Fact(says, proof):
                denied = _Source(~says, f"(not {self.holds(says)})")
                theorem = self._proved(~says, branch.also(denied), proof)
                return branch.also(_Source(says, self.holds(says), theorem))
            case Equal(node, to, proof):
                (now,) = substitute([node], branch.replacement)
                differ = f"(not (equal {self.node(now)} {self.node(to)}))"
                theorem = self._proved(now.ne(to), branch.also(_Source(now.ne(to), differ)), proof)
                replaced = [_Replaced(now, to, theorem)]
                if now is not node:
                    replaced.insert(0, _Replaced(node, to, self._same(branch, node, now, to, theorem)))
                return _Branch(
                    branch.sources,
                    (*branch.replaced, *(one for one in replaced if one.node.value is None)),
                )
        raise AssertionError(step)

    def _same(self, branch: _Branch, node: Term, now: Term, to: Term, theorem: str) -> str:
        """Prove that the node has the value of ``to``, as what it is with its own nodes replaced has."""
        number = self._number()
        keys = self._keys([node], branch)
        state = self._state(f"node-{number}", [node], keys, word=True)
        before = self._linked(f"before-{number}", f"(equal {state('node')} {self.node(node)})")
        after = self._linked(f"after-{number}", f"(equal {state('to')} {self.node(now)})")
        uses = [before, after, theorem, *(key.theorem for key in keys)]
        return self._theorem(
            f"replaced-{number}", f"(equal {self.node(node)} {self.node(to)})", branch.assumed, uses
        )

    def _cases(self, goal: Term, branch: _Branch, step: Cases) -> str:
        theorems = [
            self._proved(goal, branch.also(_Source(case, self.holds(case))), proof)
            for case, proof in step.cases
        ]
        none = [_Source(~case, f"(not {self.holds(case)})") for case, _ in step.cases]
        theorems.append(self._proved(goal, branch.also(*none), step.rest))
        return self._theorem(f"cases-{self._number()}", "nil", branch.assumed, theorems)

    def _closed(self, goal: Term, branch: _Branch, step: Close) -> str:
        number = self._number()
        sources = self._sources(goal, branch, step.using)
        holds = " ".join(source.literal for source in sources)
        (replaced_goal,) = substitute([goal], branch.replacement)
        formula = all_of([*step.using, replaced_goal])
        free, lemma, inputs = self._lemma(formula, step.free)
        values = [self.node(node) for node in free]
        call = f"({' '.join([_formula_of(lemma), *inputs, *values])})"
        sizes = [f"(unsigned-byte-p {node.width} {value})" for node, value in zip(free, values, strict=True)]
        keys = self._keys([goal], branch)
        uses = [lemma]
        reached = f"(and {holds})"
        if keys:
            state = self._state(f"goal-{number}", [*step.using, goal], keys, word=False)
            uses.append(self._linked(f"before-{number}", f"(implies (and {holds}) {state('node')})"))
            reached = state("to")
        uses.append(self._linked(f"after-{number}", f"(implies {reached} (and {' '.join([call, *sizes])}))"))
        used = [s.theorem for s in sources if s.theorem] + [key.theorem for key in keys]
        instance = " ".join(f"({self._free(i)} {value})" for i, value in enumerate(values))
        uses[0] = f"(:instance {lemma} {instance})" if values else lemma
        return self._theorem(f"closed-{number}", "nil", branch.assumed, [*uses, *used])

    def _sources(self, goal: Term, branch: _Branch, using: Sequence[Term]) -> list[_Source]:
        """Return what gives the goal, and each part that is used."""
        chosen: dict[_Source, None] = {}
        for part in (goal, *using):
            parts = [goal] if part is goal else sorted(conjuncts([part]), key=lambda one: one.digest)
            for needed in parts:
                for source in reversed(branch.sources):
                    if needed is source.term or needed in conjuncts([source.term]):
                        chosen[source] = None
                        break
                else:
                    raise AssertionError("what is used is not among the facts")
        return list(chosen)

    def _keys(self, roots: Sequence[Term], branch: _Branch) -> list[_Replaced]:
        """Return the replaced nodes that are met first below the roots."""
        replaced = {one.node: one for one in branch.replaced}
        met: list[_Replaced] = []
        seen: set[Term] = set()
        pending = list(roots)
        while pending:
            node = pending.pop()
            if node in seen:
                continue
            seen.add(node)
            if node in replaced:
                met.append(replaced[node])
            else:
                pending += node.args
        return met

    def _state(
        self, name: str, roots: Sequence[Term], keys: Sequence[_Replaced], *, word: bool
    ) -> Callable[[str], str]:
        """Return the roots with each key an argument of its own; ``using`` before the last has nothing
        replaced.

        What is returned writes its call, with the keys' nodes ("node") or what they are replaced by ("to").
        """
        names = {node: self._free(number) for number, node in enumerate(expand([key.node for key in keys]))}
        (root,) = expand(roots[-1:])
        inputs = self._inputs([root], names)
        bindings, (value,) = self._parts.bindings([root], names)
        if not word:
            others = [self.holds(other) for other in roots[:-1]]
            inputs = self._mentioned(" ".join([*inputs, *others]))
            value = f"(and {' '.join([*others, f'(equal {value} 1)'])})"
        self._pending.append(BookEvent(defined(name, [*inputs, *names.values()], bindings, value)))
        return lambda which: f"({' '.join([name, *inputs, *(self.node(getattr(k, which)) for k in keys)])})"

    def _inputs(self, roots: Sequence[Term], names: Container[Term]) -> list[str]:
        """Return the inputs below the roots that are met without the named nodes."""
        met = {str(node.data) for node in self.write.operands_first(roots, names) if node.op == "var"}
        return [variable for name, variable in self.inputs.items() if name in met]

    def _mentioned(self, text: str) -> list[str]:
        """Return the inputs of which a text speaks."""
        words = set(re.findall(r"[^\s()']+", text))
        return [variable for variable in self.inputs.values() if variable in words]

    def _lemma(self, formula: Term, free: Sequence[Term]) -> tuple[list[Term], str, list[str]]:
        """Return the formula's function and the theorem that nothing satisfies it: its free nodes, with
        maxima, the theorem's name, and the inputs that it is about. Branches that need the same lemma share
        it.
        """
        (root,) = expand([formula])
        cuts = dict(zip(expand(free), free, strict=True))
        below = operands_first([root], cuts)
        used = {arg for node in below for arg in node.args} | {root}
        frees = [node for node in cuts if node in used]
        maxima = [node for node in below if node.op == "umax"]
        names = {node: self._free(i) for i, node in enumerate([*frees, *maxima])}
        roots = [root, *dict.fromkeys(arg for node in maxima for arg in node.args)]
        inputs = self._inputs(roots, names)
        bindings, results = self._parts.bindings(roots, names)
        text = dict(zip(roots, results, strict=True))
        parts = [f"(equal {text[root]} 1)"]
        for node in maxima:
            words = [text[arg] for arg in node.args]
            parts += [f"(<= {word} {names[node]})" for word in words]
            parts.append(f"(or {' '.join(f'(equal {word} {names[node]})' for word in words)})")
        formals = [*inputs, *names.values()]
        value = f"(and {' '.join(parts)})"
        widths = self._widths(inputs) | {name: node.width for node, name in names.items()}
        key = defined("", formals, bindings, value), tuple(widths.items())
        lemma = self._lemmas.get(key)
        if lemma is None:
            lemma = self._lemmas[key] = f"lemma-{len(self._lemmas) + 1}"
            function = _formula_of(lemma)
            self._pending.append(BookEvent(defined(function, formals, bindings, value)))
            says = f"(not ({function} {' '.join(formals)}))"
            self._simulated(lemma, widths, says)
        return [*frees, *maxima], lemma, inputs

    def _linked(self, name: str, says: str) -> str:
        """Return a theorem about the nodes that is true bit by bit, with nothing to search for."""
        widths = self._widths(self._mentioned(says))
        calls = {self._list(below): f"values-{number}" for number, below in enumerate(self._lists)}
        met = {call: values for call, values in calls.items() if call in says}
        for call, values in met.items():
            says = says.replace(call, values)
        if met:
            bound = " ".join(f"({values} {call})" for call, values in met.items())
            says = f"(let ({bound})\n    {says})"
        self._simulated(name, widths, says)
        return name

    def _simulated(self, name: str, widths: Mapping[str, int], says: str) -> None:
        self._pending.append(BookEvent(simulated(name, widths, says), name))
        self._simulations += 1
        if self._simulations % _KEPT == 0:
            self._pending.append(BookEvent(FORGOTTEN))

    def _widths(self, variables: Container[str]) -> dict[str, int]:
        """Return how many bits these inputs have."""
        widths = {self.inputs[name]: width for name, width in self.widths.items()}
        return {variable: width for variable, width in widths.items() if variable in variables}

    def _theorem(self, name: str, says: str, assumed: Sequence[str], uses: Sequence[str]) -> str:
        """Return what follows from theorems by logic alone."""
        event = proved(name, [f"(words-p {self.args})", *assumed], says, ["words-p"], uses)
        self._pending.append(event)
        return name

    def _number(self) -> int:
        self._count += 1
        return self._count

    @staticmethod
    def _free(number: int) -> str:
        return f"free-{number}"


def _formula_of(lemma: str) -> str:
    """Return the function of the formula that the lemma refutes."""
    return lemma.replace("lemma-", "lemma-formula-")


def simulated(name: str, widths: Mapping[str, int], says: str) -> str:
    """Return a theorem by symbolic simulation: what would contradict it is refuted as clauses."""
    place = 0
    bits = []
    for variable, width in widths.items():
        bits.append(f"({variable} (:g-integer {' '.join(map(str, range(place, place + width + 1)))}))")
        place += width + 1
    sizes = " ".join(f"(unsigned-byte-p {width} {variable})" for variable, width in widths.items())
    return (
        f"(gl::def-gl-thm {name}\n  :hyp (and {sizes})\n  :concl {says}\n"
        f"  :g-bindings '({' '.join(bits)})\n  :rule-classes nil)"
    )


def proved(
    name: str, hyps: Sequence[str], says: str, rules: Sequence[str], uses: Sequence[str] = ()
) -> BookEvent:
    """Return a theorem that follows from others, and from some rules, by logic alone."""
    use = f"\n    :use ({' '.join(dict.fromkeys(uses))})" if uses else ""
    return BookEvent(
        f"(defthm {name}\n  (implies (and {' '.join(hyps)})\n    {says})\n  :rule-classes nil\n"
        f'  :hints (("Goal" :in-theory (union-theories (theory \'minimal-theory)\n'
        f"    '({' '.join(rules)})){use})))"
    )


def refutation_file(folder: str, lemma: str) -> str:
    """Return where the refutation of a lemma is, from the folder of the book."""
    return f"{folder}/{lemma}.lrat"
