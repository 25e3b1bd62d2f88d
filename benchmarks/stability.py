"""How much topics depend on luck: seeds, and corpora drawn again.

Twenty corpora are drawn from one set of topics (the small size of
`benchmarks/topics.py`); every model is fitted to each, with the number of the corpus
as its seed. For each model: the mean and the worst over corpora of the mean L1 error,
and of the error of the worst topic. The aim: the worst that happens to the default is
better than what random starts reach on average. Refitting the same corpus must give
the same bits.

    python benchmarks/stability.py --peers tomotopy-200,lda-200,sklearn-online
"""

from __future__ import annotations

import argparse
import json
import logging
from pathlib import Path

import numpy as np
from scipy import sparse
from topics import PEERS, RANDOM_STARTS, Topics, fit_ours, spend

from tercet.datasets import make_lda
from tercet.evaluation import measure_component_errors

RESULTS = Path(__file__).parent / "results" / "stability.json"


def draw(n_corpora: int) -> tuple[list[sparse.csr_array], Topics]:
    """Return corpora of one set of topics."""
    first = make_lda(1, n_features=1_000, n_components=10, random_state=0)
    corpora = [
        sparse.csr_array(
            make_lda(
                2_000, parameters=first.parameters, mean_length=100, random_state=seed
            ).rows
        )
        for seed in range(n_corpora)
    ]
    return corpora, first.parameters.centers.T


def measure(found: Topics, truth: Topics) -> tuple[float, float]:
    """Return the mean L1 error, and that of the worst topic."""
    scaled = found / found.sum(axis=1, keepdims=True)
    errors = 2.0 * measure_component_errors(truth, scaled)
    return float(errors.mean()), float(errors.max())


def main() -> None:
    """Measure, keep and print."""
    logging.disable(logging.WARNING)
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--corpora", type=int, default=20)
    parser.add_argument("--peers", default=",".join(RANDOM_STARTS), help="or none")
    arguments = parser.parse_args()
    corpora, truth = draw(arguments.corpora)
    k = truth.shape[0]
    known = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    ours = [fit_ours(X, k) for X in corpora]
    again = [fit_ours(X, k) for X in corpora[:5]]
    same = all(np.array_equal(a, b) for a, b in zip(ours, again, strict=False))
    known["same_bits"] = same
    known["tercet"] = [measure(topics, truth) for topics in ours]
    for name in arguments.peers.split(","):
        if name in PEERS:
            known[name] = [
                measure(spend(PEERS[name](X, k, seed))[0], truth)
                for seed, X in enumerate(corpora)
            ]
            RESULTS.parent.mkdir(exist_ok=True)
            RESULTS.write_text(json.dumps(known, indent=1) + "\n")
    RESULTS.write_text(json.dumps(known, indent=1) + "\n")
    print("                     mean L1          worst topic")
    print("                  mean    worst      mean    worst")
    for name, values in known.items():
        if name != "same_bits":
            table = np.array(values)
            mean, worst = table.mean(axis=0), table.max(axis=0)
            print(
                f"{name:16} {mean[0]:6.4f}   {worst[0]:6.4f}    {mean[1]:6.4f}   "
                f"{worst[1]:6.4f}"
            )
    print("refitting the same corpus gives the same bits:", same)


if __name__ == "__main__":
    main()
