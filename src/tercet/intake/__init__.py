"""What may come in: values are checked, rows are cut into blocks, passes run.

`open_source` turns whatever holds rows into a `tercet.flow.Source`; nothing
behind this room knows whether the rows were an array, a data frame or a stream.
"""

from tercet.intake.execution import count_threads
from tercet.intake.frames import read_names
from tercet.intake.pairs import PairedBlock, PairedSource, open_pair
from tercet.intake.requirements import Requirement
from tercet.intake.seeds import make_generator
from tercet.intake.sources import open_source
from tercet.intake.thinning import ThinnedSource
from tercet.intake.validation import validate_block, validate_weights

__all__ = [
    "PairedBlock",
    "PairedSource",
    "Requirement",
    "ThinnedSource",
    "count_threads",
    "make_generator",
    "open_pair",
    "open_source",
    "read_names",
    "validate_block",
    "validate_weights",
]
