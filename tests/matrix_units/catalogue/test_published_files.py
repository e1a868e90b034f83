"""The tables of published answers name formats and GPUs that the catalogue knows."""

from tcsmt.matrix_units.arithmetic.formats import FORMATS
from tcsmt.matrix_units.catalogue.naming import gpus
from tcsmt.matrix_units.catalogue.published_files import CALLED, CALLED_WITHOUT_C, FORMAT_NAMES


def test_formats_and_gpus_are_known() -> None:
    assert set(CALLED) | set(FORMAT_NAMES.values()) <= set(FORMATS)
    assert not set(FORMAT_NAMES) & set(FORMATS)
    for gpu, taken, given in CALLED_WITHOUT_C:
        assert gpu in gpus() and taken in CALLED and given in FORMATS
