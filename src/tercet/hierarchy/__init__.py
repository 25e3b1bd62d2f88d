"""Trees of models: every node splits its rows in two by their moments."""

from tercet.hierarchy.bisecting import BisectingMoments
from tercet.hierarchy.exporting import Node
from tercet.hierarchy.topics import TopicTree
from tercet.hierarchy.trees import Hierarchy, rank_relevance

__all__ = ["BisectingMoments", "Hierarchy", "Node", "TopicTree", "rank_relevance"]
