"""From the pair moment to whitened coordinates, with a verdict on its rank."""

from tercet.whitening.operators import whiten_matrix, whiten_operator
from tercet.whitening.pairs import whiten_pair
from tercet.whitening.thirds import whiten_third
from tercet.whitening.verdicts import judge_spectrum
from tercet.whitening.view_pairs import ViewWhitening, whiten_views

__all__ = [
    "ViewWhitening",
    "judge_spectrum",
    "whiten_matrix",
    "whiten_operator",
    "whiten_pair",
    "whiten_third",
    "whiten_views",
]
