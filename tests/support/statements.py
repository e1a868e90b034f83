"""Statements of certificates, made of questions in memory."""

from __future__ import annotations

import json

from tcsmt.matrix_units.models import Model
from tcsmt.prove.certificates.statement import Statement, read_statement
from tcsmt.prove.engine.certify import written_statement
from tcsmt.prove.statements.question import Question

__all__ = ["stated"]


def stated(question: Question) -> Statement:
    """The statement of a question, as a checker reads it."""
    models: dict[str, Model] = {}

    def name_of(model: Model) -> str:
        name = f"{len(models)}"
        models[name] = model
        return name

    return read_statement(json.loads(json.dumps(written_statement(question, name_of))), models.__getitem__)
