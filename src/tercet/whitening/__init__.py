"""From the pair moment to whitened coordinates, with a verdict on its rank."""

from tercet.whitening.operators import whiten_matrix, whiten_operator
from tercet.whitening.pairs import whiten_pair
from tercet.whitening.thirds import whiten_third
from tercet.whitening.verdicts import judge_spectrum

__all__ = [
    "judge_spectrum",
    "whiten_matrix",
    "whiten_operator",
    "whiten_pair",
    "whiten_third",
]
