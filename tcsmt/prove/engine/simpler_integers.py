"""Simplification of the integers and fixed-point numbers of a witness."""

from __future__ import annotations

from collections.abc import Iterator

from tcsmt.matrix_units.arithmetic.integer_format import IntegerFormat

__all__ = ["integer_cost", "scaled_integer", "simpler_integers"]


def integer_cost(fmt: IntegerFormat, word: int) -> tuple[int, int, int, int]:
    """Return whether it is not zero, its bits from the first to the last one set, its leading bit, its
    sign.
    """
    count = fmt.count(word)
    if not count:
        return 0, 0, 0, 0
    size = abs(count)
    trailing = (size & -size).bit_length() - 1
    return 1, size.bit_length() - trailing - 1, size.bit_length(), int(count < 0)


def simpler_integers(fmt: IntegerFormat, word: int) -> Iterator[int]:
    """Numbers that may be simpler: with fewer bits set, nearer to zero, without the sign."""
    count = fmt.count(word)
    size, sign = abs(count), -1 if count < 0 else 1
    sizes = [size ^ 1 << bit for bit in range(size.bit_length()) if size >> bit & 1]
    sizes += [size >> bit << bit for bit in range(1, size.bit_length())]
    sizes += [size >> bit for bit in range(1, size.bit_length())]
    sizes += [1 << size.bit_length(), size - 1, size + 1]
    counts = [sign * number for number in sizes] + [-count]
    yield from (fmt.word_of_count(number) for number in counts if fmt.low <= number <= fmt.high)


def scaled_integer(fmt: IntegerFormat, word: int, step: int) -> int | None:
    """Return the word of the number times 2^step; None where the format does not have that number."""
    count = fmt.count(word)
    scaled = count << step if step >= 0 else count >> -step
    exact = step >= 0 or scaled << -step == count
    return fmt.word_of_count(scaled) if exact and fmt.low <= scaled <= fmt.high else None
