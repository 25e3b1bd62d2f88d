"""Frozen values that pass from room to room.

Nothing here computes a model: these are the nouns by which the rooms speak to
one another, and the one `Registry` class that gives names to choices.
"""

from tercet.flow.arrays import FloatArray, IntArray
from tercet.flow.outcomes import Outcome, Status
from tercet.flow.registry import Registry
from tercet.flow.rows import Block, Pass, Source
from tercet.flow.sums import FAMILIES, Family, MomentPlan, Moments, Weighting
from tercet.flow.tensors import (
    Equations,
    Factors,
    Parameters,
    Problem,
    Verdict,
    Whitening,
)

__all__ = [
    "FAMILIES",
    "Block",
    "Equations",
    "Factors",
    "Family",
    "FloatArray",
    "IntArray",
    "MomentPlan",
    "Moments",
    "Outcome",
    "Parameters",
    "Pass",
    "Problem",
    "Registry",
    "Source",
    "Status",
    "Verdict",
    "Weighting",
    "Whitening",
]
