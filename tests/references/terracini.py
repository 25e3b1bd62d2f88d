"""The Terracini matrix of a symmetric decomposition, formed in full.

Breiding and Vannieuwenhoven (2018), section 5.1: the condition number of a sum of
rank-one terms is the inverse of the smallest singular value of the matrix whose
blocks are orthonormal bases of the tangent spaces at the terms.
"""

import numpy as np


def outer(a, b, c):
    return np.multiply.outer(np.multiply.outer(a, b), c)


def tangent_basis(a):
    """Orthonormal basis (d^3 x d) of the vectors `aav + ava + vaa`."""
    d = a.size
    columns = [
        (outer(a, a, v) + outer(a, v, a) + outer(v, a, a)).ravel() for v in np.eye(d)
    ]
    return np.linalg.qr(np.stack(columns, axis=1))[0]


def condition_number(rows):
    blocks = [tangent_basis(row) for row in rows]
    singular = np.linalg.svd(np.hstack(blocks), compute_uv=False)
    if len(singular) < sum(block.shape[1] for block in blocks):
        return np.inf
    return 1.0 / singular[-1] if singular[-1] > 1e-13 else np.inf


def cube_sum(rows):
    return sum(outer(row, row, row) for row in rows)
