"""Running a pass over blocks with threads, so that timing changes nothing.

Two schedules, both fixed before the work starts: contiguous shares, for rows
that can be reached in any order, and a round robin, for rows that arrive in
order. Each thread has a state of its own and the states are merged in order, so
a result depends on the blocks and on the number of threads, never on who was
faster.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from itertools import pairwise
from numbers import Integral
from typing import TypeVar

import numpy as np

from tercet.exceptions import ParameterError
from tercet.flow import Block, Pass

__all__ = ["count_threads", "run_arriving", "run_shares", "share_evenly"]

State = TypeVar("State")
Item = TypeVar("Item")


def count_threads(n_jobs: int | None) -> int:
    """Return the number of threads that `n_jobs` asks for.

    Parameters
    ----------
    n_jobs : int or None
        None means one; negative numbers count back from the cores that the
        process may use, so that -1 is all of them and -2 all but one.

    Returns
    -------
    int
        At least one.

    Examples
    --------
    >>> from tercet.intake import count_threads
    >>> count_threads(None), count_threads(3)
    (1, 3)
    """
    if n_jobs is None:
        return 1
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral) or n_jobs == 0:
        raise ParameterError(
            f"n_jobs={n_jobs!r} is not a number of threads; give a positive integer, "
            "-1 for all cores, or None for one."
        )
    if n_jobs > 0:
        return int(n_jobs)
    return max(1, _count_cores() + 1 + int(n_jobs))


def share_evenly(costs: Sequence[int], n_shares: int) -> list[tuple[int, int]]:
    """Cut a row of items into contiguous shares of about equal cost.

    Parameters
    ----------
    costs : sequence of int
        Cost of each item.
    n_shares : int
        Shares wanted; there are fewer if there are fewer items.

    Returns
    -------
    list of (int, int)
        First item and the one after the last, for each share; none is empty.

    Examples
    --------
    >>> from tercet.intake.execution import share_evenly
    >>> share_evenly([1, 1, 1, 3], 2)
    [(0, 3), (3, 4)]
    """
    n_items = len(costs)
    n_shares = min(n_shares, n_items)
    if n_shares == 1:
        return [(0, n_items)]
    ends = np.cumsum(np.asarray(costs, dtype=np.float64))
    cuts = [0]
    for share in range(1, n_shares):
        wanted = ends[-1] * share / n_shares
        nearest = int(np.argmin(np.abs(ends - wanted))) + 1
        # Every share keeps at least one item, however uneven the costs are.
        cuts.append(min(max(nearest, cuts[-1] + 1), n_items - n_shares + share))
    cuts.append(n_items)
    return list(pairwise(cuts)) if n_items else []


def run_shares(
    work: Pass[State],
    n_shares: int,
    feed: Callable[[int], Iterable[Block]],
) -> State:
    """Run a pass over shares of blocks, one thread for each share.

    Parameters
    ----------
    work : Pass
        What to do.
    n_shares : int
        Number of shares.
    feed : callable
        Gives the blocks of a share, in order.

    Returns
    -------
    State
        The merged state; `work.initial()` if there are no shares.
    """

    def run_share(share: int) -> State:
        state = work.initial()
        for block in feed(share):
            state = work.update(state, block)
        return state

    if n_shares <= 1:
        return run_share(0) if n_shares else work.initial()
    with _one_blas_thread(), ThreadPoolExecutor(n_shares) as pool:
        futures = [pool.submit(run_share, share) for share in range(n_shares)]
        return _merge(work, [future.result() for future in futures])


def run_arriving(
    work: Pass[State],
    n_threads: int,
    items: Iterable[Item],
    prepare: Callable[[Item], Block],
) -> State:
    """Run a pass over blocks that arrive in order, each thread in its turn.

    Parameters
    ----------
    work : Pass
        What to do.
    n_threads : int
        Number of threads; this many blocks are in memory at once, and one more
        that is being read.
    items : iterable
        What arrives; read by the calling thread.
    prepare : callable
        Makes a block of an item, in the thread that will use it.

    Returns
    -------
    State
        The merged state.
    """

    def take(state: State, item: Item) -> State:
        return work.update(state, prepare(item))

    if n_threads == 1:
        state = work.initial()
        for item in items:
            state = take(state, item)
        return state
    states = deque(work.initial() for _ in range(n_threads))
    pending: deque[Future[State]] = deque()
    with _one_blas_thread(), ThreadPoolExecutor(n_threads) as pool:
        for item in items:
            if len(pending) == n_threads:
                states.append(pending.popleft().result())
            pending.append(pool.submit(take, states.popleft(), item))
        finished = [future.result() for future in pending]
    # The deque turns as blocks arrive; what is idle has waited longest.
    return _merge(work, [*states, *finished])


def _merge(work: Pass[State], states: list[State]) -> State:
    total = states[0]
    for state in states[1:]:
        total = work.merge(total, state)
    return total


def _one_blas_thread() -> AbstractContextManager[object]:
    """Keep BLAS to one thread while several of ours call it.

    The limit holds for the whole process until the run is over.
    """
    if _count_cores() == 1:
        return nullcontext()
    from threadpoolctl import threadpool_limits

    limits: AbstractContextManager[object] = threadpool_limits(1, user_api="blas")
    return limits


def _count_cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
