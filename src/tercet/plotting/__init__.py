"""Pictures: one call each, drawn with matplotlib, returned as display objects.

Like scikit-learn's displays, each keeps what it draws, has `from_estimator`, draws
with `plot(ax)`, and leaves `ax_` and `figure_` for finishing touches.
"""

from tercet.plotting.assignment import AssignmentDisplay
from tercet.plotting.clusters import ClustersDisplay, FrequencyDisplay
from tercet.plotting.coherence import CoherenceDisplay
from tercet.plotting.errors import ErrorsDisplay
from tercet.plotting.selection import SelectionDisplay
from tercet.plotting.spectrum import SpectrumDisplay
from tercet.plotting.tree import TreeDisplay
from tercet.plotting.words import WordsDisplay

__all__ = [
    "AssignmentDisplay",
    "ClustersDisplay",
    "CoherenceDisplay",
    "ErrorsDisplay",
    "FrequencyDisplay",
    "SelectionDisplay",
    "SpectrumDisplay",
    "TreeDisplay",
    "WordsDisplay",
]
