"""Wrong passes, each made from a right one, and the law that must reject it."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np


def change(state: Any, rule: Callable[[np.ndarray], np.ndarray]) -> Any:
    """Return the state with a rule applied to every real number in it.

    Integers (counts of rows) stay what they are.
    """
    if is_dataclass(state) and not isinstance(state, type):
        changed = copy.copy(state)
        for entry in fields(state):
            object.__setattr__(
                changed, entry.name, change(getattr(state, entry.name), rule)
            )
        return changed
    if isinstance(state, dict):
        return {key: change(value, rule) for key, value in state.items()}
    if isinstance(state, (list, tuple)):
        return type(state)(change(value, rule) for value in state)
    real = np.issubdtype(np.asarray(state).dtype, np.floating)
    return rule(np.asarray(state)) if real else state


class Spoiled:
    """A pass that behaves as another one until something is overridden."""

    def __init__(self, work: Any) -> None:
        self.work = work

    def initial(self) -> Any:
        return self.work.initial()

    def update(self, state: Any, block: Any) -> Any:
        return self.work.update(state, block)

    def merge(self, left: Any, right: Any) -> Any:
        return self.work.merge(left, right)


class StartsAtOne(Spoiled):
    """The identity is not one: every number starts at one."""

    def initial(self) -> Any:
        return change(self.work.initial(), lambda value: value + 1.0)


class SharedStart(Spoiled):
    """One and the same initial state is handed out each time."""

    def __init__(self, work: Any) -> None:
        super().__init__(work)
        self.start = work.initial()

    def initial(self) -> Any:
        return self.start


class WrongSign(Spoiled):
    """The right state is taken away instead of added."""

    def merge(self, left: Any, right: Any) -> Any:
        return self.work.merge(left, change(right, np.negative))


class FactorTwo(Spoiled):
    """The right state counts double."""

    def merge(self, left: Any, right: Any) -> Any:
        return self.work.merge(left, change(right, lambda value: 2.0 * value))


class RunningMean(Spoiled):
    """Two states are averaged: the wrong normaliser."""

    def merge(self, left: Any, right: Any) -> Any:
        return change(self.work.merge(left, right), lambda value: value / 2.0)


class Forgetful(Spoiled):
    """Merging keeps the left state only."""

    def merge(self, left: Any, right: Any) -> Any:
        return left


class SwappedAxes(Spoiled):
    """Arrays of the right state are merged back to front."""

    def merge(self, left: Any, right: Any) -> Any:
        return self.work.merge(left, change(right, np.flip))


class PerBlock(Spoiled):
    """Each block is normalised by its own number of rows."""

    def update(self, state: Any, block: Any) -> Any:
        own = self.work.update(self.work.initial(), block)
        share = change(own, lambda value: value / max(block.n_rows, 1))
        return self.work.merge(state, share)


class DroppedCorrection(Spoiled):
    """A little is lost at each update, as when a correction is taken per block."""

    def update(self, state: Any, block: Any) -> Any:
        own = self.work.update(self.work.initial(), block)
        return self.work.merge(state, change(own, lambda value: value - 1e-3))


MUTANTS: dict[str, tuple[str, type[Spoiled]]] = {
    "starts at one": ("identity", StartsAtOne),
    "shared start": ("identity", SharedStart),
    "forgetful, identity": ("identity", Forgetful),
    "running mean, identity": ("identity", RunningMean),
    "wrong sign, associativity": ("associativity", WrongSign),
    "factor two, associativity": ("associativity", FactorTwo),
    "running mean, associativity": ("associativity", RunningMean),
    "wrong sign, commutativity": ("commutativity", WrongSign),
    "factor two, commutativity": ("commutativity", FactorTwo),
    "forgetful, commutativity": ("commutativity", Forgetful),
    "swapped axes, commutativity": ("commutativity", SwappedAxes),
    "swapped axes, blocking": ("blocking", SwappedAxes),
    "wrong sign, blocking": ("blocking", WrongSign),
    "wrong normaliser, blocking": ("blocking", PerBlock),
    "dropped correction, blocking": ("blocking", DroppedCorrection),
}
