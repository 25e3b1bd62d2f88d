"""CumulantICA beside scikit-learn's FastICA and picard: Amari distance and CPU time.

Run `python benchmarks/ica.py`. Every row of the tables is the mean over seeds;
times are those of one process with one thread, taken in an order that is drawn
anew for each seed, as ratios to the time of FastICA. The last table mixes counts
with Poisson noise.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable

import numpy as np
from picard import picard
from sklearn.decomposition import FastICA
from threadpoolctl import threadpool_limits

from tercet import CumulantICA

Unmix = Callable[[np.ndarray, int, int], np.ndarray]

SEEDS = range(10)
SIZES = ((4, 2_000), (10, 10_000), (20, 20_000))
DRAWS: dict[str, Callable[[np.random.Generator, int], np.ndarray]] = {
    "Laplace": lambda rng, n: rng.laplace(size=n),
    "uniform": lambda rng, n: rng.uniform(-1.0, 1.0, n),
    "exponential": lambda rng, n: rng.exponential(size=n),
    "Student, 5": lambda rng, n: rng.standard_t(5, size=n),
    "two humps": lambda rng, n: rng.choice([-1.0, 1.0], n) + 0.4 * rng.normal(size=n),
    "lognormal": lambda rng, n: rng.lognormal(0.0, 0.5, n),
}


def draw_sources(kind: str, n: int, k: int, rng: np.random.Generator) -> np.ndarray:
    """Draw k sources of one kind, or of all kinds in turn."""
    kinds = list(DRAWS) if kind == "all kinds" else [kind]
    columns = [DRAWS[kinds[j % len(kinds)]](rng, n) for j in range(k)]
    return np.stack(columns, axis=1)


def measure_amari(unmixing: np.ndarray, mixing: np.ndarray) -> float:
    """Return the Amari distance, between 0 and 1."""
    product = np.abs(unmixing @ mixing)
    k = len(product)
    rows = (product / product.max(axis=1, keepdims=True)).sum() - k
    columns = (product / product.max(axis=0, keepdims=True)).sum() - k
    return float((rows + columns) / (2.0 * k * (k - 1)))


def unmix_cumulants(X: np.ndarray, k: int, seed: int) -> np.ndarray:
    """Cumulants, then likelihood steps."""
    return CumulantICA(k, random_state=seed).fit(X).components_


def unmix_cumulants_only(X: np.ndarray, k: int, seed: int) -> np.ndarray:
    """Cumulants alone."""
    return CumulantICA(k, refine=0, random_state=seed).fit(X).components_


def unmix_counts(X: np.ndarray, k: int, seed: int) -> np.ndarray:
    """Cumulants without the noise of counting."""
    return CumulantICA(k, noise="poisson", random_state=seed).fit(X).components_


def unmix_fast(X: np.ndarray, k: int, seed: int) -> np.ndarray:
    """FastICA of scikit-learn."""
    model = FastICA(k, whiten="unit-variance", random_state=seed)
    return model.fit(X).components_


def unmix_picard(X: np.ndarray, k: int, seed: int) -> np.ndarray:
    """Picard as it comes."""
    whitening, rotation, _ = picard(
        X.T, n_components=k, ortho=False, extended=False, random_state=seed
    )
    return rotation @ whitening


def unmix_picard_extended(X: np.ndarray, k: int, seed: int) -> np.ndarray:
    """Picard with orthogonal steps and either kind of tail."""
    whitening, rotation, _ = picard(
        X.T, n_components=k, ortho=True, extended=True, random_state=seed
    )
    return rotation @ whitening


def compare(
    methods: dict[str, Unmix], draw: Callable[[int], tuple[np.ndarray, np.ndarray]]
) -> tuple[np.ndarray, np.ndarray]:
    """Return mean Amari distance and mean CPU time of each method."""
    errors, times = np.empty((2, len(SEEDS), len(methods)))
    for seed in SEEDS:
        X, mixing = draw(seed)
        k = mixing.shape[1]
        unmixers = list(methods.values())
        # Who comes after a method that fills the caches pays for it.
        for j in np.random.default_rng(seed).permutation(len(unmixers)):
            start = time.process_time()
            unmixing = unmixers[j](X, k, seed)
            times[seed, j] = time.process_time() - start
            errors[seed, j] = measure_amari(unmixing, mixing)
    return errors.mean(axis=0), times.mean(axis=0)


def print_row(label: str, errors: np.ndarray, times: np.ndarray, fast: int) -> None:
    """Print one line of a table."""
    shown = "  ".join(f"{value:8.4f}" for value in errors)
    ratios = "  ".join(f"{value:6.2f}" for value in times / times[fast])
    print(f"{label:28s}{shown}   | {ratios}")


def main() -> None:
    """Print both tables."""
    methods: dict[str, Unmix] = {
        "CumulantICA": unmix_cumulants,
        "refine=0": unmix_cumulants_only,
        "FastICA": unmix_fast,
        "picard": unmix_picard,
        "picard-o ext.": unmix_picard_extended,
    }
    warm = np.random.default_rng(0).laplace(size=(500, 3))
    unmix_cumulants(warm, 3, 0)
    print("Amari distance of", ", ".join(methods), "| CPU time over that of FastICA")
    for k, n in SIZES:
        for kind in (*DRAWS, "all kinds"):

            def draw(
                seed: int, k: int = k, n: int = n, kind: str = kind
            ) -> tuple[np.ndarray, np.ndarray]:
                rng = np.random.default_rng([seed, k])
                sources = draw_sources(kind, n, k, rng)
                sources = (sources - sources.mean(axis=0)) / sources.std(axis=0)
                mixing = rng.normal(size=(k, k))
                return sources @ mixing.T, mixing

            print_row(f"k={k:<3d} n={n:<6d} {kind}", *compare(methods, draw), fast=2)
    counted = {"poisson": unmix_counts} | {
        name: methods[name] for name in ("CumulantICA", "FastICA", "picard")
    }
    print("\nCounts with Poisson noise:", ", ".join(counted))
    for k, d in ((5, 10), (5, 20), (10, 40)):

        def draw_counts(
            seed: int, k: int = k, d: int = d
        ) -> tuple[np.ndarray, np.ndarray]:
            rng = np.random.default_rng([seed, k, d])
            mixing = rng.dirichlet(np.full(d, 0.3), size=k).T
            sources = rng.gamma(0.5, 10.0, size=(20_000, k))
            counts = rng.poisson(sources @ mixing.T).astype(float)
            return counts, mixing * sources.std(axis=0)

        print_row(f"k={k:<3d} d={d}", *compare(counted, draw_counts), fast=2)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    with threadpool_limits(1):
        main()
