"""From the small whitened problem to its factors: algorithms behind one protocol."""

from tercet.decomposition import (
    alternating,
    combination,
    joint,
    least_squares,
    pencil,
    power,
    projections,
    sidiwo,
    similarity,
    svtd,
)
from tercet.decomposition.congruence import diagonalize_by_congruence
from tercet.decomposition.joint_diagonalization import diagonalize_jointly
from tercet.decomposition.perturbation import PerturbationBound, bound_perturbation
from tercet.decomposition.registry import (
    DECOMPOSITIONS,
    Decomposition,
    add_decomposition,
    solve,
)
from tercet.decomposition.sidiwo import diagonalize_by_norms
from tercet.decomposition.similarity_diagonalization import diagonalize_by_similarity

__all__ = [
    "DECOMPOSITIONS",
    "Decomposition",
    "PerturbationBound",
    "add_decomposition",
    "alternating",
    "bound_perturbation",
    "combination",
    "diagonalize_by_congruence",
    "diagonalize_by_norms",
    "diagonalize_by_similarity",
    "diagonalize_jointly",
    "joint",
    "least_squares",
    "pencil",
    "power",
    "projections",
    "sidiwo",
    "similarity",
    "solve",
    "svtd",
]
