"""What may come in: values are checked, rows are cut into blocks, passes run.

`open_source` turns whatever holds rows into a `tercet.flow.Source`; nothing
behind this room knows whether the rows were an array, a data frame or a stream.
"""

from tercet.intake.corpus import CorpusReader, KnownColumns, read
from tercet.intake.execution import count_threads
from tercet.intake.formats.layouts import FORMATS
from tercet.intake.frames import read_names
from tercet.intake.pairs import PairedBlock, PairedSource, open_pair
from tercet.intake.requirements import Requirement
from tercet.intake.seeds import make_generator
from tercet.intake.sources import open_source
from tercet.intake.texts.pipelines import TextPipeline
from tercet.intake.texts.stopping import LANGUAGES, list_stop_words
from tercet.intake.thinning import ThinnedSource
from tercet.intake.validation import validate_block, validate_weights

__all__ = [
    "FORMATS",
    "LANGUAGES",
    "CorpusReader",
    "KnownColumns",
    "PairedBlock",
    "PairedSource",
    "Requirement",
    "TextPipeline",
    "ThinnedSource",
    "count_threads",
    "list_stop_words",
    "make_generator",
    "open_pair",
    "open_source",
    "read",
    "read_names",
    "validate_block",
    "validate_weights",
]
