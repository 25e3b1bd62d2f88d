"""Moments that lack entries equal slow references, on samples with all their noise."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from references import moments_tensors as slow
from references import partial_moments
from tercet.families import Bernoulli, SphericalGaussian, ThreeViews
from tercet.families.completing import add_repeated, fit_repeated, iterate_diagonal
from tercet.families.three_views import split_features
from tercet.intake import open_source
from tercet.moments import collect_against

TOLERANCE = 1e-10


def read(rows, family, basis, features=None):
    return collect_against(
        open_source(rows, requirement=family.requirement),
        family,
        basis,
        orthonormal=True,
        features=features,
    ).equations()


def draw_ones(seed: int, d: int, n: int = 400) -> np.ndarray:
    rng = np.random.default_rng(seed)
    centers = rng.random((3, d))
    return (rng.random((n, d)) < centers[rng.integers(3, size=n)]).astype(float)


def same(found, wanted, tolerance: float = TOLERANCE) -> None:
    scale = max(1.0, float(np.abs(wanted).max()))
    np.testing.assert_allclose(found / scale, wanted / scale, rtol=0, atol=tolerance)


@pytest.mark.parametrize("k", [1, 2])
@settings(max_examples=12)
@given(seed=st.integers(0, 2**32 - 1), deal=st.integers(0, 9))
def test_three_views(k: int, seed: int, deal: int) -> None:
    rows, family = draw_ones(seed, 8), ThreeViews(seed=deal)
    labels = split_features(8, deal)
    pair, plain, third = partial_moments.three_view_moments(rows, labels, k)
    raw = read(rows, family, np.eye(8))
    found = family.complete(raw, None, k)
    # Inverses of small cross moments magnify rounding.
    limit = 1e-10 * np.linalg.cond(raw.pair)
    same(found.pair, pair, limit)
    same(found.third, third, limit)
    same(found.lift, plain, limit)


@pytest.mark.parametrize("k", [1, 2])
@settings(max_examples=5)
@given(seed=st.integers(0, 2**32 - 1), d=st.integers(6, 8))
def test_least_squares_fit_of_distinct_entries(k: int, seed: int, d: int) -> None:
    rows = draw_ones(seed, d)
    hollow = read(rows, Bernoulli("factorial"), np.eye(d), np.arange(d))
    diagonal = iterate_diagonal(hollow, k)
    full = hollow.pair + np.diag(diagonal)
    paired = replace(hollow, pair=full, lift=full, hollow=False)
    frame = np.linalg.eigh(full)[1][:, -k:]
    third = slow.third_moment(rows, np.ones(len(rows)), "rows", True)
    fitted = partial_moments.fit_distinct(third, frame)
    repeated = np.array([len(set(t)) < 3 for t in np.ndindex(d, d, d)])
    repeated = repeated.reshape(d, d, d)
    wanted = np.where(repeated, fitted, third)
    found = add_repeated(paired, fit_repeated(paired, k))
    same(found.third, wanted, 1e-8)
    same(found.slices, wanted.transpose(2, 0, 1), 1e-8)


@settings(max_examples=12)
@given(seed=st.integers(0, 2**32 - 1))
def test_rank_k_diagonal_is_a_fixed_point(seed: int) -> None:
    """Thresholded or not, the diagonal is that of the approximation it gives."""
    hollow = read(draw_ones(seed, 8, 4000), Bernoulli("factorial"), np.eye(8))
    diagonal = iterate_diagonal(hollow, 2)
    values, vectors = np.linalg.eigh(hollow.pair + np.diag(diagonal))
    top = np.maximum(values[-2:], 0.0)
    own = (vectors[:, -2:] ** 2) @ top
    inside = np.clip(own, hollow.first**2, hollow.first)
    np.testing.assert_allclose(diagonal, inside, atol=1e-6)


@settings(max_examples=12)
@given(seed=st.integers(0, 2**32 - 1), d=st.integers(4, 8))
def test_spherical_noise_outside_a_basis(seed: int, d: int) -> None:
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((30, d)) + 3.0 * rng.standard_normal((1, d))
    basis = np.ascontiguousarray(np.linalg.qr(rng.standard_normal((d, 2)))[0])
    noise, energy = partial_moments.noise_outside(rows, basis)
    raw = slow.third_moment(rows, np.ones(30), "rows", False)
    pair = rows.T @ rows / 30 - noise * np.eye(d)
    for i in range(d):
        raw[:, i, i] -= energy
        raw[i, :, i] -= energy
        raw[i, i, :] -= energy
    found = read(rows, SphericalGaussian(), basis, np.arange(d))
    same(found.lift, pair @ basis)
    same(found.third, slow.contract_third(raw, basis))
    for feature in range(d):
        same(found.slices[feature], slow.contract_slice(raw, basis, feature))
