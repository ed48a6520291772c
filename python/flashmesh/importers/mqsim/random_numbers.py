"""Random numbers of MQSim: MRG32k3a (L'Ecuyer, Operations Research 47(1), 1999) with MQSim's way of seeding.

A seed advances the state (1, 1, 1) by a power of the generator's matrices. MQSim computes the products in signed 64-bit
numbers, which overflow, and keeps negative remainders. So its initial states differ from L'Ecuyer's; the steps from
there are equal.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator

Vector: TypeAlias = tuple[int, int, int]
Matrix: TypeAlias = tuple[Vector, Vector, Vector]

MODULI = (4_294_967_087, 4_294_944_443)
MATRICES: tuple[Matrix, Matrix] = (
    ((0, 1, 0), (0, 0, 1), (MODULI[0] - 810_728, 1_403_580, 0)),
    ((0, 1, 0), (0, 0, 1), (MODULI[1] - 1_370_589, 0, 527_612)),
)
UNIT = 2.328306549295728e-10
"""Factor that maps a number to the open interval from 0 to 1: the inverse of the first modulus plus 1."""
SQUARINGS = 200
"""Divisor of a seed: the quotient counts steps, the remainder counts squarings of the matrix."""


def wrapped(number: int) -> int:
    """Returns a number wrapped to a signed number of 64 bits."""
    return (number + 2**63) % 2**64 - 2**63


def remainder(number: int, modulus: int) -> int:
    """Returns the remainder of a division that rounds toward zero; the remainder has the sign of `number`."""
    left = abs(number) % modulus
    return -left if number < 0 else left


def times_vector(matrix: Matrix, vector: Vector, modulus: int) -> Vector:
    """Returns a matrix times a vector modulo `modulus`, in 64-bit numbers that overflow as in MQSim."""
    rows = []
    for row in matrix:
        total = 0
        for factor, value in zip(row, vector, strict=True):
            total = remainder(wrapped(wrapped(factor * value) + total), modulus)
        rows.append(total)
    return rows[0], rows[1], rows[2]


def squared(matrix: Matrix, modulus: int) -> Matrix:
    """Returns the square of a matrix modulo `modulus`, in 64-bit numbers that overflow as in MQSim."""
    columns = [times_vector(matrix, column, modulus) for column in zip(*matrix, strict=True)]
    first, second, third = zip(*columns, strict=True)
    return first, second, third


def seeded(seed: int, matrix: Matrix, modulus: int) -> Vector:
    """Returns the three-number state of one of the two component generators after seeding, as MQSim computes it."""
    # C rounds toward zero, and a count below one leaves the state unchanged.
    steps, doublings = int(seed / SQUARINGS) + 1, remainder(seed, SQUARINGS)
    for _ in range(doublings):
        matrix = squared(matrix, modulus)
    state: Vector = (1, 1, 1)
    while steps > 0:
        if steps & 1:
            state = times_vector(matrix, state, modulus)
        steps >>= 1
        matrix = squared(matrix, modulus)
    return state


def uniform(seed: int) -> Iterator[float]:
    """Yields uniform numbers between 0 and 1, both excluded, without end."""
    one, two = (float(modulus) for modulus in MODULI)
    # Floating point, as in MQSim. It is exact except in the first products, whose factors may differ in sign.
    a, b, c = map(float, seeded(seed, MATRICES[0], MODULI[0]))
    d, e, f = map(float, seeded(seed, MATRICES[1], MODULI[1]))
    while True:
        a, b, c = b, c, (1403580.0 * b - 810728.0 * a) % one
        d, e, f = e, f, (527612.0 * f - 1370589.0 * d) % two
        difference = c - f
        yield (difference + one + 1 if difference < 0 else difference + 1) * UNIT


def normal(seed: int, mean: float, deviation: float) -> Iterator[float]:
    """Yields normally distributed numbers without end, by the polar method; each accepted pair gives two."""
    numbers = uniform(seed)
    while True:
        x, y = 2.0 * next(numbers) - 1.0, 2.0 * next(numbers) - 1.0
        square = x * x + y * y
        if 0.0 < square < 1.0:
            stretch = math.sqrt(-2.0 * math.log(square) / square)
            yield mean + x * stretch * deviation
            yield mean + y * stretch * deviation


def exponential(seed: int, mean: float) -> Iterator[float]:
    """Returns an endless iterator of exponentially distributed numbers."""
    return (-mean * math.log(number) for number in uniform(seed))
