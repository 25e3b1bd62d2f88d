"""Diagnostics in plain words: is k supported, what was cut, how sure, what helps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["explain_diagnostics"]

# An eigenvalue that is so many times the next one stands clear of the noise.
_CLEAR_GAP, _NARROW_GAP = 2.0, 1.2
# Removed negative mass above which a component is to be read with care.
_MUCH_CUT, _LITTLE_CUT = 0.15, 0.05


def explain_diagnostics(facts: Mapping[str, Any]) -> list[dict[str, str]]:
    """Say what the diagnostics of a model mean.

    Parameters
    ----------
    facts : mapping
        From `tercet.models.facts.describe_model`.

    Returns
    -------
    list of dict
        `question`, `answer` and `level` ("good", "fair" or "poor").

    Examples
    --------
    >>> from tercet.report.sentences import explain_diagnostics
    >>> facts = {"n_components": 2, "diagnostics": {"spectrum": [5.0, 4.0, 1.0]}}
    >>> explain_diagnostics(facts)[0]["level"]
    'good'
    """
    diagnostics = facts.get("diagnostics") or {}
    parts = [
        _explain_support(facts, diagnostics),
        _explain_end(facts),
        _explain_cut(diagnostics),
        _explain_short(facts, diagnostics),
        _explain_certainty(facts, diagnostics),
    ]
    return [part for part in parts if part is not None]


def _say(question: str, answer: str, level: str) -> dict[str, str]:
    return {"question": question, "answer": answer, "level": level}


def _numbers(values: Any) -> list[float]:
    """Return the entries that are numbers; arrays too long for facts give none."""
    if not isinstance(values, Sequence) or isinstance(values, str):
        return []
    return [float(v) for v in values if isinstance(v, int | float)]


def _explain_support(
    facts: Mapping[str, Any], diagnostics: Mapping[str, Any]
) -> dict[str, str] | None:
    spectrum = _numbers(diagnostics.get("spectrum"))
    k = int(facts.get("n_components") or 0)
    question = "Do the data support this many components?"
    if not 0 < k < len(spectrum):
        return None
    last, following = spectrum[k - 1], spectrum[k]
    if following <= 0.0:
        return _say(
            question,
            f"Yes: {k} eigenvalues of the pair moments are above zero and the next is "
            "not.",
            "good",
        )
    ratio = last / following
    told = f"Eigenvalue {k} of the pair moments is {ratio:.2g} times the next one"
    if ratio >= _CLEAR_GAP:
        return _say(question, f"Yes. {told}, well clear of what follows.", "good")
    if ratio >= _NARROW_GAP:
        return _say(
            question,
            f"Probably. {told}: the last component is real but not far above the noise.",
            "fair",
        )
    return _say(
        question,
        f"The data do not single this number out: {told[0].lower()}{told[1:]}, so that "
        f"{k + 1} or {k - 1} components would be about as good. Compare with "
        "`tercet select`.",
        "fair" if last > 0.0 else "poor",
    )


def _explain_end(facts: Mapping[str, Any]) -> dict[str, str] | None:
    outcome = facts.get("outcome")
    if not isinstance(outcome, Mapping) or not outcome.get("message"):
        return None
    level = {"exact": "good", "converged": "good", "fell back": "fair"}
    return _say(
        "Did the computation finish?",
        str(outcome["message"]),
        level.get(str(outcome.get("status")), "fair"),
    )


def _explain_cut(diagnostics: Mapping[str, Any]) -> dict[str, str] | None:
    removed = _numbers(diagnostics.get("negative_mass"))
    if not removed:
        return None
    worst = max(removed)
    place = removed.index(worst) + 1
    answer = (
        f"Noise makes some entries negative; they were removed: "
        f"{sum(removed) / len(removed):.1%} of a component on average, at most "
        f"{worst:.1%} (component {place}), before any likelihood steps."
    )
    level = "good" if worst < _LITTLE_CUT else "fair" if worst < _MUCH_CUT else "poor"
    return _say("How much was cut away?", answer, level)


def _explain_short(
    facts: Mapping[str, Any], diagnostics: Mapping[str, Any]
) -> dict[str, str] | None:
    short = _numbers(diagnostics.get("short_documents"))
    n_rows = facts.get("n_samples")
    if len(short) != 3 or not n_rows:
        return None
    share = short[2] / n_rows
    if short[2] == 0:
        return _say(
            "Did every row count?",
            "Yes: every row has at least three tokens.",
            "good",
        )
    return _say(
        "Did every row count?",
        f"{int(short[2]):,} of {n_rows:,} rows have fewer than three tokens and say "
        f"nothing about triples; {int(short[0]):,} of them are empty.",
        "good" if share < 0.05 else "fair" if share < 0.5 else "poor",
    )


def _explain_certainty(
    facts: Mapping[str, Any], diagnostics: Mapping[str, Any]
) -> dict[str, str] | None:
    bound = diagnostics.get("sample_bound")
    n_rows = facts.get("n_samples")
    if not isinstance(bound, Mapping) or not n_rows:
        return None
    pair, third = bound.get("pair"), bound.get("third")
    if not isinstance(pair, int | float) or not isinstance(third, int | float):
        return None
    norm = max(_numbers(diagnostics.get("spectrum")), default=0.0)
    confidence = 1.0 - float(bound.get("delta", 0.05))
    relative = pair / norm if norm > 0.0 else float("inf")
    answer = (
        f"With {confidence:.0%} confidence the pair moments are off by at most "
        f"{pair:.2g} (their largest eigenvalue is {norm:.2g}) and the triple moments by "
        f"{third:.2g}, whatever the data. The error falls with the square root of the "
        f"rows: four times as many ({4 * n_rows:,}) halve it."
    )
    if relative > 1.0:
        needed = n_rows * (2.0 * relative) ** 2
        answer += (
            f" To guarantee half of the largest eigenvalue, about {needed:,.0f} rows of "
            "this length would be needed; in practice far fewer do."
        )
    level = "good" if relative < 0.5 else "fair"
    return _say("How sure is it, and would more data help?", answer, level)
