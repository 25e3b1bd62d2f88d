"""Sums over rows: first, pair and triple moments, collected in passes and merged."""

from tercet.flow import Moments
from tercet.moments.bounds import SampleBound, bound_errors, bound_errors_of_lengths
from tercet.moments.collecting import collect, collect_against, resolve_family
from tercet.moments.files import load_moments, save_moments
from tercet.moments.passes import DiagonalPass, PairPass, SumsPass, TallyPass
from tercet.moments.tilted_pass import TiltedPass
from tercet.moments.view_collecting import collect_tilts, collect_views
from tercet.moments.view_passes import CrossPass, ViewsPass
from tercet.moments.views import TiltedSums, TwoViewMoments

__all__ = [
    "CrossPass",
    "DiagonalPass",
    "Moments",
    "PairPass",
    "SampleBound",
    "SumsPass",
    "TallyPass",
    "TiltedPass",
    "TiltedSums",
    "TwoViewMoments",
    "ViewsPass",
    "bound_errors",
    "bound_errors_of_lengths",
    "collect",
    "collect_against",
    "collect_tilts",
    "collect_views",
    "load_moments",
    "resolve_family",
    "save_moments",
]
