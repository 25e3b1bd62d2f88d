"""How good an estimate is, and how good it can be.

Measures that compare parameters take components as rows (k x d), as
`components_` of an estimator, or `Parameters`; all of them pair components by
`match_components`.
"""

from tercet.evaluation.coherence import measure_coherence
from tercet.evaluation.comparing import Comparison, Judgement, compare
from tercet.evaluation.conditioning import (
    measure_backward_error,
    measure_condition_number,
    measure_forward_error,
)
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
from tercet.evaluation.relevance import measure_relevance
from tercet.evaluation.stability import Stability, measure_stability

__all__ = [
    "Comparison",
    "Judgement",
    "KruskalRank",
    "Matching",
    "Stability",
    "WorstComponent",
    "compare",
    "count_identifiable_components",
    "find_kruskal_rank",
    "find_worst_component",
    "is_generically_identifiable",
    "is_uniquely_decomposable",
    "match_components",
    "measure_amari_distance",
    "measure_backward_error",
    "measure_coherence",
    "measure_component_errors",
    "measure_condition_number",
    "measure_forward_error",
    "measure_frobenius_error",
    "measure_l1_error",
    "measure_relative_error",
    "measure_relevance",
    "measure_stability",
    "measure_weight_error",
]
