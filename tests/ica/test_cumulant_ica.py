"""Independent components: formulas, quality beside peers, files, errors."""

from __future__ import annotations

import itertools
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.decomposition import FastICA
from sklearn.utils.estimator_checks import check_estimator

import tercet
from tercet import CumulantICA
from tercet.evaluation import measure_amari_distance
from tercet.exceptions import DataError, ModelWarning, ParameterError, RankError
from tercet.families.independent_targets import form_fourth_targets
from tercet.intake import open_source
from tercet.kernels.scores import add_scores
from tercet.likelihood.separation import fit_scores
from tercet.moments.separation_passes import FourthPass, SpreadPass

DRAWS = {
    "laplace": lambda rng, n: rng.laplace(size=n),
    "uniform": lambda rng, n: rng.uniform(-1.0, 1.0, n),
    "exponential": lambda rng, n: rng.exponential(size=n),
    "student": lambda rng, n: rng.standard_t(5, size=n),
}


def draw_mixture(
    kinds: list[str], n: int, rng: np.random.Generator, d: int | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Draw standardised sources and mix them."""
    sources = np.stack([DRAWS[kind](rng, n) for kind in kinds], axis=1)
    sources = (sources - sources.mean(axis=0)) / sources.std(axis=0)
    mixing = rng.normal(size=(d or len(kinds), len(kinds)))
    return sources @ mixing.T, mixing


def measure_unmixing(components: np.ndarray, mixing: np.ndarray) -> float:
    """Amari distance of an unmixing matrix from the one it should undo."""
    return measure_amari_distance(
        np.eye(mixing.shape[1]), np.linalg.inv(components @ mixing)
    )


@pytest.mark.parametrize(
    "model", [CumulantICA(), CumulantICA(2), CumulantICA(refine=0)], ids=repr
)
def test_scikit_learn_finds_nothing_to_complain_of(model: CumulantICA) -> None:
    with warnings.catch_warnings():
        # Ten rows of noise deserve the warnings that they get.
        warnings.simplefilter("ignore")
        results = check_estimator(model, on_skip=None, on_fail=None)
    failed = {
        result["check_name"]: str(result["exception"])
        for result in results
        if result["status"] == "failed"
    }
    assert failed == {}


def test_targets_are_cumulants_of_white_rows(rng: np.random.Generator) -> None:
    X = rng.gamma(2.0, size=(60, 3))
    values, vectors = np.linalg.eigh(np.cov(X.T, bias=True))
    Z = (X - X.mean(axis=0)) @ (vectors / np.sqrt(values))
    source = open_source(Z, requirement="reals", block_rows=7)
    found = form_fourth_targets(source.run(FourthPass(np.eye(3), np.zeros(3))))
    delta = np.eye(3)
    for a, b, c in itertools.product(range(3), repeat=3):
        third = np.mean(Z[:, a] * Z[:, b] * Z[:, c])
        fourth = np.mean(Z[:, a] * Z[:, b] * Z[:, c] ** 2)
        fourth -= delta[a, b] + 2.0 * delta[a, c] * delta[b, c]
        np.testing.assert_allclose(found[c, a, b], third, atol=1e-10)
        np.testing.assert_allclose(found[3 + c, a, b], fourth / np.sqrt(3), atol=1e-10)


def test_exact_cumulants_return_the_mixing_matrix() -> None:
    # All outcomes of three two-valued sources, one of them symmetric.
    outcomes = np.array(list(itertools.product([0, 1], repeat=3)), dtype=float)
    chances = np.array([[0.8, 0.2], [0.5, 0.5], [0.3, 0.7]])
    weight = np.prod([chances[j, outcomes[:, j].astype(int)] for j in range(3)], axis=0)
    mixing = np.array([[3.0, 0.5, 0.2], [0.4, 2.0, -0.3], [0.1, 0.3, 1.0]])
    X = outcomes @ mixing.T
    model = CumulantICA(refine=0).fit(lambda: iter([(X, weight * 1000.0)]))
    scales = np.sqrt(chances[:, 0] * chances[:, 1])
    expected = (mixing * scales)[:, np.argsort(-((mixing * scales) ** 2).sum(axis=0))]
    np.testing.assert_allclose(model.mixing_, expected, atol=1e-8)


def test_spread_is_the_covariance(rng: np.random.Generator) -> None:
    X, weights = rng.normal(size=(40, 3)) + 5.0, rng.uniform(size=40)
    mean = weights @ X / weights.sum()
    spread = open_source(X, sample_weight=weights, requirement="reals", block_rows=7)
    wanted = np.cov(X.T, aweights=weights, bias=True) * weights.sum()
    np.testing.assert_allclose(spread.run(SpreadPass(mean)), wanted)


def test_scores_are_those_of_the_functions(rng: np.random.Generator) -> None:
    y, w = rng.normal(size=(2, 50)), rng.uniform(size=50)
    c = rng.normal(size=(4, 2))
    scores, grams, slopes = np.empty((2, 50)), np.zeros((10, 2)), np.zeros((4, 2))
    add_scores(y, w, c, scores, grams, slopes)

    def functions(x: np.ndarray) -> np.ndarray:
        q = 1.0 / np.sqrt(0.5 + x**2)
        return np.stack([x, x * q, q, x * q**3])

    g, step = functions(y), 1e-6
    slope = (functions(y + step) - functions(y - step)) / (2.0 * step)
    np.testing.assert_allclose(scores, w * np.einsum("ak,akn->kn", c, g))
    wanted = [w @ (g[a] * g[b]).T for a in range(4) for b in range(a, 4)]
    np.testing.assert_allclose(grams, wanted, rtol=1e-10)
    np.testing.assert_allclose(slopes, slope @ w, rtol=1e-6, atol=1e-8)


def test_score_of_a_gaussian_is_the_identity(rng: np.random.Generator) -> None:
    y = rng.normal(size=(1, 200_000))
    grams, slopes = np.zeros((10, 1)), np.zeros((4, 1))
    add_scores(y, np.ones(200_000), np.zeros((4, 1)), np.empty_like(y), grams, slopes)
    c = fit_scores(grams, slopes)[:, 0]
    x = np.linspace(-2.0, 2.0, 9)
    q = 1.0 / np.sqrt(0.5 + x**2)
    fitted = c @ np.stack([x, x * q, q, x * q**3])
    np.testing.assert_allclose(fitted, x, atol=0.05)


@pytest.mark.parametrize("kind", [*DRAWS, "all"])
def test_sources_are_told_apart_at_least_as_well_as_by_fast_ica(kind: str) -> None:
    kinds = list(DRAWS) if kind == "all" else [kind] * 4
    ours, theirs = [], []
    for seed in range(4):
        rng = np.random.default_rng([seed, 4])
        X, mixing = draw_mixture(kinds, 4000, rng)
        ours.append(measure_unmixing(CumulantICA().fit(X).components_, mixing))
        fast = FastICA(4, whiten="unit-variance", random_state=seed).fit(X)
        theirs.append(measure_unmixing(fast.components_, mixing))
    assert np.mean(ours) <= 1.1 * np.mean(theirs)


@pytest.mark.peers
def test_heavy_tails_are_told_apart_as_well_as_by_picard() -> None:
    picard = pytest.importorskip("picard")
    ours, theirs = [], []
    for seed in range(4):
        X, mixing = draw_mixture(["laplace"] * 5, 4000, np.random.default_rng(seed))
        ours.append(measure_unmixing(CumulantICA().fit(X).components_, mixing))
        whitening, rotation, _ = picard.picard(X.T, ortho=False, random_state=seed)
        theirs.append(measure_unmixing(rotation @ whitening, mixing))
    assert np.mean(ours) <= 1.1 * np.mean(theirs)


def test_noise_of_counting_is_taken_out() -> None:
    ours, plain, fast = [], [], []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        mixing = rng.dirichlet(np.full(20, 0.3), size=5).T
        sources = rng.gamma(0.5, 10.0, size=(10_000, 5))
        X = rng.poisson(sources @ mixing.T)
        scaled = mixing * sources.std(axis=0)
        for kept, model in (
            (ours, CumulantICA(5, noise="poisson")),
            (plain, CumulantICA(5)),
            (fast, FastICA(5, whiten="unit-variance", random_state=seed)),
        ):
            kept.append(measure_unmixing(model.fit(X).components_, scaled))
    assert np.mean(ours) < 0.5 * min(np.mean(plain), np.mean(fast))


def test_interface_is_that_of_fast_ica(rng: np.random.Generator) -> None:
    X, _ = draw_mixture(["laplace", "exponential", "uniform"], 2000, rng, d=5)
    X = X + 7.0
    model = CumulantICA(3)
    sources = model.fit_transform(X)
    assert model.components_.shape == (3, 5)
    assert model.mixing_.shape == (5, 3)
    assert model.whitening_.shape == (3, 5)
    np.testing.assert_allclose(model.mean_, X.mean(axis=0))
    np.testing.assert_allclose(sources.std(axis=0), 1.0, rtol=1e-2)
    np.testing.assert_allclose(sources.mean(axis=0), 0.0, atol=1e-8)
    np.testing.assert_allclose(
        model.mixing_, np.linalg.pinv(model.components_), atol=1e-10
    )
    np.testing.assert_allclose(model.inverse_transform(sources), X, atol=1e-6)
    assert model.get_feature_names_out().tolist() == [
        f"cumulantica{j}" for j in range(3)
    ]
    assert np.all(np.diff(model.weights_) <= 0.0)
    assert model.n_iter_ >= 1


def test_sparse_rows_streams_and_threads_change_nothing(
    rng: np.random.Generator,
) -> None:
    X = rng.poisson(rng.gamma(0.5, 4.0, size=(3000, 3)) @ rng.uniform(size=(3, 4)))
    X = X.astype(float)
    wanted = CumulantICA(3).fit(X)
    blocks = [X[:700], X[700:]]
    for rows, threads in (
        (sparse.csr_array(X), None),
        (lambda: iter(blocks), None),
        (X, 2),
    ):
        other = CumulantICA(3, n_jobs=threads).fit(rows)
        np.testing.assert_allclose(other.components_, wanted.components_, atol=1e-7)


def test_many_features_go_through_principal_components(
    rng: np.random.Generator,
) -> None:
    X, mixing = draw_mixture(["laplace", "exponential", "uniform"], 2000, rng, d=400)
    X = X + 0.01 * rng.normal(size=X.shape)
    model = CumulantICA(3).fit(X)
    assert measure_unmixing(model.components_, mixing) < 0.05
    np.testing.assert_allclose(
        model.mixing_, np.linalg.pinv(model.components_), atol=1e-10
    )


def test_rows_far_from_zero_keep_their_digits(rng: np.random.Generator) -> None:
    X, _ = draw_mixture(["laplace", "exponential"], 3000, rng)
    near, far = CumulantICA().fit(X), CumulantICA().fit(X + 1e7)
    np.testing.assert_allclose(near.components_, far.components_, rtol=1e-4, atol=1e-6)


def test_file_holds_everything(rng: np.random.Generator, tmp_path: Path) -> None:
    X, _ = draw_mixture(["laplace", "exponential"], 1000, rng)
    model = CumulantICA().fit(X)
    model.save(tmp_path / "ica.safetensors")
    again = tercet.load(tmp_path / "ica.safetensors")
    np.testing.assert_array_equal(model.transform(X), again.transform(X))
    assert "CumulantICA" in str(again)


def test_gaussian_sources_are_warned_of(rng: np.random.Generator) -> None:
    X = rng.normal(size=(2000, 3)) @ rng.normal(size=(3, 3))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        CumulantICA().fit(X)
    assert any(
        issubclass(w.category, ModelWarning)
        and "of 3 sources look Gaussian" in str(w.message)
        for w in caught
    )


@pytest.mark.parametrize(
    ("changes", "rows", "error", "complaint"),
    [
        ({"noise": "gauss"}, np.eye(3), ParameterError, "noise='gauss'"),
        ({"refine": -1}, np.eye(3), ParameterError, "refine=-1"),
        ({"n_components": 5}, np.eye(3), RankError, "rank 2"),
        ({"noise": "poisson"}, -np.eye(3), DataError, "negative"),
        ({}, np.ones((1, 3)), DataError, "n_samples=1"),
        ({}, iter([np.eye(3)]), ParameterError, "an iterator cannot do"),
    ],
)
def test_what_cannot_be_done_is_said(
    changes: dict[str, Any], rows: Any, error: type[Exception], complaint: str
) -> None:
    with pytest.raises(error, match=complaint):
        CumulantICA(**changes).fit(rows)


def test_sources_of_another_width_are_refused(rng: np.random.Generator) -> None:
    model = CumulantICA().fit(draw_mixture(["laplace", "uniform"], 500, rng)[0])
    with pytest.raises(DataError, match="one column for each of the 2"):
        model.inverse_transform(np.ones((2, 3)))
