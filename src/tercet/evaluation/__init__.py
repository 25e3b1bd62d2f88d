"""How good an estimate is, and how good it can be.

Measures that compare parameters take components as rows (k x d), as
`components_` of an estimator, or `Parameters`; all of them pair components by
`match_components`.
"""

from tercet.evaluation.conditioning import measure_condition_number
from tercet.evaluation.errors import (
    WorstComponent,
    find_worst_component,
    measure_amari_distance,
    measure_component_errors,
    measure_frobenius_error,
    measure_l1_error,
    measure_relative_error,
    measure_weight_error,
)
from tercet.evaluation.identifiability import (
    KruskalRank,
    count_identifiable_components,
    find_kruskal_rank,
    is_generically_identifiable,
    is_uniquely_decomposable,
)
from tercet.evaluation.matching import Matching, match_components

__all__ = [
    "KruskalRank",
    "Matching",
    "WorstComponent",
    "count_identifiable_components",
    "find_kruskal_rank",
    "find_worst_component",
    "is_generically_identifiable",
    "is_uniquely_decomposable",
    "match_components",
    "measure_amari_distance",
    "measure_component_errors",
    "measure_condition_number",
    "measure_frobenius_error",
    "measure_l1_error",
    "measure_relative_error",
    "measure_weight_error",
]
