"""Kinds of statements whose argument is code: one object that writes their certificates and checks them.

The argument is a list of goals without a solution, and what follows from them. A certificate has a lemma for
each goal. Writer and checker go through the same argument, from the same values, with a
:class:`.LemmaChain`, for which a goal is proved if its lemma is there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from tcsmt.analysis.bounds.fused_loss import Unbounded
from tcsmt.analysis.bounds.lemma_chain import LemmaChain
from tcsmt.prove.certificates.derivation import InvalidProof
from tcsmt.prove.certificates.lemma_files import LemmaFiles
from tcsmt.prove.certificates.theorems import Theorem
from tcsmt.prove.engine.certify import Certificates
from tcsmt.prove.statements.verdict import Certified
from tcsmt.support.errors import InternalError, Malformed, TcsmtError, TooLarge

#: What the lemmas of an argument come to, by the keys of the statement.
Conclusion = Mapping[str, Any]
#: The values of a statement about an algorithm on a domain, and how they are said.
OF_ALGORITHM = {"algorithm": "text", "k": "number", "domain": "domain", "unit": "model"}
WHERE = "K = {k}, where a, b and c have {domain}"


@dataclass(frozen=True)
class CertifiedTheorem(Theorem):
    """A kind of statement with its argument.

    about: its name. derive: goes through the argument for a statement's values, proves the goals in a chain,
    and returns the numbers that it starts from and comes to, which are those of the statement. It raises
    :class:`.InvalidProof` or :class:`.Unbounded`, with the reason, where the lemmas do not suffice.
    """

    about: str = field(kw_only=True)
    derive: Callable[..., Conclusion] = field(kw_only=True)

    def certify(
        self, certificates: Certificates, title: str, values: Mapping[str, Any], **choices: Any
    ) -> Certified:
        """Write the certificate of a statement, or note why there is none.

        choices: what ``derive`` takes besides, where a statement that is written has a choice.
        Raises :class:`.InternalError` where the lemmas come to other numbers.
        """
        record = {"about": self.about, "title": title}
        record |= {key: _written(kind, values[key], certificates) for key, kind in self.values.items()}
        chain = LemmaChain(certificates.lemma)
        try:
            derived = self.derive(chain, values, **choices)
        except (InvalidProof, Unbounded) as why:
            return certificates.failed(title, str(why))
        if fault := _fault(derived, values, [key for key in derived if key in values]):
            raise InternalError(f"{title}: {fault}")
        record |= {key: derived[key] for key in self.start if key in derived}
        return certificates.keep({"statement": record}, list(chain.names))

    def check(self, values: Mapping[str, Any], files: LemmaFiles) -> list[str]:
        """Return the names of the lemmas that the argument for these values needs.

        Raises :class:`.InvalidProof` where the lemmas do not suffice or come to something else, and
        :class:`.Malformed` where the argument does not take such values.
        """
        chain = LemmaChain(files.check)
        try:
            derived = self.derive(chain, values)
        except Unbounded as why:
            raise InvalidProof(str(why)) from None
        except (Malformed, TooLarge):
            raise
        except (LookupError, StopIteration, TypeError, ValueError, AttributeError, ArithmeticError) as error:
            raise Malformed(f"not values of a statement about {self.about}: {_reason(error)}") from None
        if fault := _fault(derived, values, [*derived, *self.start]):
            raise InvalidProof(fault)
        return list(chain.names)


def _reason(error: Exception) -> str:
    return str(error) if isinstance(error, TcsmtError) else f"{type(error).__name__}: {error}"


def _fault(derived: Conclusion, values: Mapping[str, Any], keys: Iterable[str]) -> str:
    """Return which of these numbers of a statement is not the one that the lemmas prove, if any."""
    for key in keys:
        if (proved := derived.get(key)) != (stated := values.get(key)):
            return f"{key}: the lemmas prove {proved!s:.200}, and not {stated!s:.200}"
    return ""


def _written(kind: str, value: Any, certificates: Certificates) -> Any:
    """A value as a statement's file has it; models have files of their own."""
    match kind:
        case "fraction":
            return str(value)
        case "domain":
            return asdict(value)
        case "model":
            return certificates.model(value)
        case "models":
            return [certificates.model(model) for model in value]
    return value
