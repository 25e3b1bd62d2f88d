"""From the small whitened problem to its factors: algorithms behind one protocol."""

from tercet.decomposition import combination, joint, pencil
from tercet.decomposition.joint_diagonalization import diagonalize_jointly
from tercet.decomposition.registry import (
    DECOMPOSITIONS,
    Decomposition,
    add_decomposition,
    solve,
)

__all__ = [
    "DECOMPOSITIONS",
    "Decomposition",
    "add_decomposition",
    "combination",
    "diagonalize_jointly",
    "joint",
    "pencil",
    "solve",
]
