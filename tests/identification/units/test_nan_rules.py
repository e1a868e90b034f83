"""Rules for the words of NaNs, and questions that tell them apart."""

import numpy as np

from tcsmt.identification.units.boxes import model_box
from tcsmt.identification.units.nan_rules import invalid_questions, nan_of_c, nan_questions, rules_of_words
from tcsmt.matrix_units.arithmetic.formats import FORMATS
from tcsmt.matrix_units.catalogue import row_named

FORMATS_OF = [FORMATS[name] for name in ("bf16", "bf16", "f32", "f32")]


def answers(name, questions):
    box = model_box(row_named(name).model)
    rows = zip(questions.a.tolist(), questions.b.tolist(), questions.c.tolist(), strict=True)
    return [box(*row) for row in rows]


def test_rules_of_the_catalogue_are_among_them():
    names = {rule.name for rule in rules_of_words(0x7FC00000, 0xFFC00000)}
    assert row_named("x86/vdpbf16ps").model.parameters.nan.name in names
    assert row_named("arm/fmlal").model.parameters.nan.name in {
        r.name for r in rules_of_words(0x7FC00000, 0x7FC00000)
    }
    assert len(names) == 4 * 15


def test_questions_whose_result_is_a_nan():
    d = FORMATS["f32"]
    assert d.is_nan(answers("x86/vdpbf16ps", nan_of_c(FORMATS_OF, 2))[0])
    for question in invalid_questions(FORMATS_OF, 2):
        assert answers("x86/vdpbf16ps", question) == [0xFFC00000]
    words = answers("x86/vdpbf16ps", nan_questions(FORMATS_OF, 2, np.random.default_rng(0), 100))
    assert sum(map(d.is_nan, words)) > 50
    assert len({word for word in words if d.is_nan(word)}) > 20


def test_formats_without_infinities_have_no_invalid_operation():
    assert invalid_questions([FORMATS[name] for name in ("e4m3", "e4m3", "f32", "f32")], 2) == []
