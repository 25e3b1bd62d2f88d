"""From factors to parameters: signs, scales, weights, the simplex, order."""

from tercet.recovery.ordering import order_by_weight
from tercet.recovery.scales import Scales, recover_scales
from tercet.recovery.signs import Signs, recover_signs
from tercet.recovery.simplex import (
    CLEANERS,
    Cleaned,
    clean_columns,
    project_simplex,
    truncate_negative,
)
from tercet.recovery.weights import recover_weights

__all__ = [
    "CLEANERS",
    "Cleaned",
    "Scales",
    "Signs",
    "clean_columns",
    "order_by_weight",
    "project_simplex",
    "recover_scales",
    "recover_signs",
    "recover_weights",
    "truncate_negative",
]
