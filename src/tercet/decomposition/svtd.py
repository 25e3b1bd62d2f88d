"""SVTD: the eigenvectors of the slice of one well-chosen feature."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tercet.decomposition.assembly import assemble_factors
from tercet.decomposition.joint import solve_joint
from tercet.decomposition.registry import add_decomposition
from tercet.decomposition.validation import require_choice, require_positive
from tercet.flow import Factors, FloatArray, Outcome, Problem, Status

__all__ = ["FeatureChoice", "choose_feature", "read_rows", "solve_svtd"]

RULES = ("eigenvalues", "published")

# Numbers that slices formed at a time may have while features are compared.
_BLOCK_ENTRIES = 1 << 21


class FeatureChoice(NamedTuple):
    """The feature whose slice tells the components apart best.

    Parameters
    ----------
    feature : int
        Index of the feature.
    gap : float
        Least distance between two of its eigenvalues (or singular values).
    relative_gap : float
        The same as a share of the largest of them in size.
    slice_matrix : ndarray of shape (k, k)
        Its whitened slice, symmetric.
    """

    feature: int
    gap: float
    relative_gap: float
    slice_matrix: FloatArray


def choose_feature(problem: Problem, rule: str = "eigenvalues") -> FeatureChoice:
    """Choose the feature of the largest least gap (paper 000, remark 7).

    Parameters
    ----------
    problem : Problem
        With slices collected from data, which are then compared, or without:
        slices follow from the whitened third moment.
    rule : {"eigenvalues", "published"}, default="eigenvalues"
        "published" compares the least gap between singular values as it is.
        "eigenvalues" compares gaps between eigenvalues, so that +a and -a are
        no tie, divided by the root of the slice's size: the noise of a slice
        of counts grows with that root.

    Returns
    -------
    FeatureChoice
        The feature, its gap and its slice.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.flow import Problem
    >>> slices = np.stack([np.diag([3.0, -3.0]), np.diag([2.0, 1.0])])
    >>> problem = Problem(
    ...     np.ones((2, 2, 2)),
    ...     np.ones(2),
    ...     np.ones(2),
    ...     np.eye(2),
    ...     slices=slices,
    ...     slice_features=np.array([5, 8]),
    ... )
    >>> choose_feature(problem).feature, choose_feature(problem, "published").feature
    (5, 8)
    """
    require_choice("rule", rule, RULES)
    best: FeatureChoice | None = None
    best_score = -1.0
    given = problem.slices
    count = len(problem.unwhitening if given is None else given)
    length = max(1, _BLOCK_ENTRIES // problem.n_components**2)
    for start in range(0, count, length):
        if given is None:
            block = _form_slices(problem, start, start + length)
        else:
            block = np.asarray(given[start : start + length])
            block = 0.5 * (block + block.transpose(0, 2, 1))
        gaps, sizes, scores = _compare(block, rule)
        index = int(np.argmax(scores))
        if scores[index] > best_score:
            best_score = float(scores[index])
            feature = start + index
            if problem.slice_features is not None and given is not None:
                feature = int(problem.slice_features[feature])
            size = float(sizes[index])
            gap = float(gaps[index])
            best = FeatureChoice(
                feature, gap, gap / size if size else 0.0, block[index].copy()
            )
    if best is None:
        flat = np.zeros_like(problem.third[0])
        return FeatureChoice(-1, 0.0, 0.0, flat)
    return best


def _form_slices(problem: Problem, start: int, stop: int) -> FloatArray:
    """Return `H_r = sum_a E[r, a] third[:, :, a]` for a range of features."""
    size = problem.n_components
    rows = problem.unwhitening[start:stop]
    return (rows @ problem.third.reshape(size, size * size)).reshape(-1, size, size)


def _compare(
    slices: FloatArray, rule: str
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the least gap, the size and the score of every slice."""
    values = np.linalg.eigvalsh(slices)
    sizes = np.abs(values).max(axis=1)
    if rule == "published":
        values = np.sort(np.abs(values), axis=1)
    # One component has no gap; the size of its only value stands in for it.
    gaps = np.diff(values, axis=1).min(axis=1) if values.shape[1] > 1 else sizes
    if rule == "published":
        return gaps, sizes, gaps
    roots = np.sqrt(sizes)
    scores = np.divide(gaps, roots, out=np.zeros_like(gaps), where=roots > 0.0)
    return gaps, sizes, scores


def read_rows(problem: Problem, vectors: FloatArray) -> FloatArray:
    """Read centers row by row: row r is the diagonal of `O' H_r O`.

    Parameters
    ----------
    problem : Problem
        Rows of features whose slices were collected are read from these, all
        others from the whitened third moment.
    vectors : ndarray of shape (k, k)
        Orthonormal columns.

    Returns
    -------
    ndarray of shape (d, k)
        One column for each component.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.flow import Problem
    >>> third = np.zeros((2, 2, 2))
    >>> third[0, 0, 0], third[1, 1, 1] = 3.0, 2.0
    >>> read_rows(Problem(third, np.ones(2), np.ones(2), np.eye(2)), np.eye(2))
    array([[3., 0.],
           [0., 2.]])
    """
    bent = np.einsum("abc,bj,cj->aj", problem.third, vectors, vectors, optimize=True)
    rows = np.asarray(problem.unwhitening @ bent)
    if problem.slices is None:
        return rows
    read = ((problem.slices @ vectors) * vectors).sum(axis=1)
    if problem.slice_features is None:
        return np.asarray(read) if len(read) == len(rows) else rows
    rows[problem.slice_features] = read
    return rows


def solve_svtd(
    problem: Problem,
    *,
    rng: np.random.Generator | None = None,  # noqa: ARG001
    rule: str = "eigenvalues",
    least_gap: float = 1e-10,
) -> Factors:
    """Decompose by the eigenvectors of the slice of one feature.

    Every slice is `H_r = O diag(m_r) O'` with row r of the centers on its
    diagonal. The feature whose entries are furthest apart tells the vectors;
    the rows of the centers are then read one by one, `diag(O' H_r O)`.

    Parameters
    ----------
    problem : Problem
        The small problem. Collected slices are used where there are any.
    rng : numpy.random.Generator or None
        Not used; nothing is drawn.
    rule : {"eigenvalues", "published"}, default="eigenvalues"
        How features are compared: by gaps between eigenvalues in proportion to
        the root of their size, or by the gap between singular values, as
        published.
    least_gap : float, default=1e-10
        If the best gap is less than this share of the slice's size, no feature
        tells all components apart, and `joint` takes over.

    Returns
    -------
    Factors
        Orthonormal vectors and `rows`. `notes` has the `feature`, its `gap` and
        its `relative_gap`, and the `rule`. The outcome is exact, or fallen back
        where joint diagonalisation had to step in.

    References
    ----------
    M. Ruffini, M. Casanellas and R. Gavalda, A new method of moments for latent
    variable models, Machine Learning 107 (2018) 1431-1455: paper 000, algorithm 1.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.flow import Problem
    >>> third = np.zeros((2, 2, 2))
    >>> third[0, 0, 0], third[1, 1, 1] = 3.0, 2.0
    >>> factors = solve_svtd(Problem(third, np.ones(2), np.ones(2), np.eye(2)))
    >>> np.sort(factors.eigenvalues), factors.notes["feature"]
    (array([2., 3.]), 0)
    """
    require_positive("least_gap", least_gap)
    choice = choose_feature(problem, rule)
    notes = {
        "rule": rule,
        "feature": choice.feature,
        "gap": choice.gap,
        "relative_gap": choice.relative_gap,
    }
    if choice.relative_gap > least_gap:
        # For a symmetric matrix the singular vectors of the published rule are
        # its eigenvectors.
        vectors = np.linalg.eigh(choice.slice_matrix)[1]
        text = f"Eigenvectors of the slice of feature {choice.feature}."
        outcome = Outcome(Status.EXACT, 0, 0.0, text)
    else:
        joint = solve_joint(problem)
        vectors = joint.vectors
        outcome = Outcome(
            Status.FELL_BACK,
            joint.outcome.iterations,
            joint.outcome.residual,
            "No feature tells all components apart (largest relative gap "
            f"{choice.relative_gap:.1e}); joint diagonalisation was used instead.",
        )
    rows = read_rows(problem, vectors)
    return assemble_factors(problem.third, vectors, outcome, rows=rows, notes=notes)


add_decomposition(
    "svtd",
    solve_svtd,
    reference="Ruffini, Casanellas and Gavalda 2018; paper 000, algorithm 1",
    cost="d k^3 for the choice among d features, d k^2 for their rows",
    takes="slices",
)
