"""What every pass must satisfy, as functions that raise when it does not.

A pass is a commutative monoid over blocks of rows. The functions here know no
pass; `laws/passes.py` lists them all, `oracles/pass_mutants.py` breaks them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

TOLERANCE = 1e-10


def measure(state: Any, name: str = "state") -> Iterator[tuple[str, np.ndarray]]:
    """Yield every number in a state with the name of its place."""
    if state is None or isinstance(state, str):
        return
    if hasattr(state, "pieces"):
        # Rows that are kept by the block they came in: all of them, in order.
        kept = [piece for _, piece in sorted(state.pieces.items()) if len(piece)]
        yield name, np.concatenate([np.empty(0), *map(np.ravel, kept)])
    elif is_dataclass(state) and not isinstance(state, type):
        for entry in fields(state):
            yield from measure(getattr(state, entry.name), f"{name}.{entry.name}")
    elif isinstance(state, Mapping):
        for key, value in state.items():
            yield from measure(value, f"{name}[{key!r}]")
    elif isinstance(state, (list, tuple)):
        for place, value in enumerate(state):
            yield from measure(value, f"{name}[{place}]")
    else:
        yield name, np.array(state, dtype=np.float64)


def assert_same(left: Any, right: Any) -> None:
    """Compare two states number by number, each field on its own scale."""
    assert_same_numbers(dict(measure(left)), dict(measure(right)))


def assert_same_numbers(
    ours: Mapping[str, np.ndarray], theirs: Mapping[str, np.ndarray]
) -> None:
    """Compare the numbers of two states."""
    assert ours.keys() == theirs.keys()
    for name, value in ours.items():
        other = theirs[name]
        assert value.shape == other.shape, name
        scale = max(
            np.abs(value).max(initial=0.0), np.abs(other).max(initial=0.0), 1e-12
        )
        np.testing.assert_allclose(
            value / scale, other / scale, rtol=0.0, atol=TOLERANCE, err_msg=name
        )


def run(work: Any, blocks: Sequence[Any]) -> Any:
    """Run a pass over blocks in one thread."""
    state = work.initial()
    for block in blocks:
        state = work.update(state, block)
    return state


def check_identity(work: Any, blocks: Sequence[Any]) -> None:
    """`initial()` merged from either side changes nothing, and is fresh each time."""
    plain = run(work, blocks)
    assert_same(work.merge(work.initial(), run(work, blocks)), plain)
    assert_same(work.merge(run(work, blocks), work.initial()), plain)
    assert_same(work.initial(), work.initial())
    before = dict(measure(work.initial()))
    run(work, blocks)
    assert_same_numbers(before, dict(measure(work.initial())))


def check_associativity(work: Any, parts: Sequence[Sequence[Any]]) -> None:
    """`(a + b) + c = a + (b + c)`."""
    a, b, c = parts
    left = work.merge(work.merge(run(work, a), run(work, b)), run(work, c))
    right = work.merge(run(work, a), work.merge(run(work, b), run(work, c)))
    assert_same(left, right)


def check_commutativity(work: Any, parts: Sequence[Sequence[Any]]) -> None:
    """`a + b = b + a`, whether states are merged or blocks arrive in another order."""
    a, b, _ = parts
    assert_same(
        work.merge(run(work, a), run(work, b)), work.merge(run(work, b), run(work, a))
    )
    assert_same(run(work, [*a, *b]), run(work, [*b, *a]))


def check_blocking(work: Any, whole: Any, blocks: Sequence[Any]) -> None:
    """Any cut of the rows gives the state of all rows in one block."""
    together = run(work, [whole])
    assert_same(run(work, blocks), together)
    apart = work.initial()
    for block in blocks:
        apart = work.merge(apart, run(work, [block]))
    assert_same(apart, together)


def check_monoid(work: Any, whole: Any, blocks: Sequence[Any]) -> None:
    """All four laws; `blocks` is a cut of `whole` in at least three blocks."""
    third = len(blocks) // 3
    parts = [blocks[:third], blocks[third : 2 * third], blocks[2 * third :]]
    check_identity(work, blocks)
    check_associativity(work, parts)
    check_commutativity(work, parts)
    check_blocking(work, whole, blocks)
