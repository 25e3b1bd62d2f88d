"""What steps of every kind keep from one to the next."""

from __future__ import annotations

from abc import ABC, abstractmethod

from tercet.flow import FloatArray, Source

__all__ = ["TopicSteps"]


class TopicSteps(ABC):
    """Makes likelihood steps for topics, and keeps what one leaves for the next.

    Parameters
    ----------
    topics : ndarray of shape (d, k)
        Topics to start from, as columns.
    concentration : ndarray of shape (k,)
        Dirichlet parameters to start from.
    pseudo_tokens : float
        Pseudo-tokens of a topic.

    Attributes
    ----------
    topics : ndarray of shape (d, k)
        Topics after the last step.
    concentration : ndarray of shape (k,)
        Dirichlet parameters after the last step.
    shares : ndarray of shape (k,)
        Expected share of the tokens that each topic emitted.
    history : list of float
        Objective for each token before every step.
    mean_length : float
        Tokens of a document.
    """

    def __init__(
        self, topics: FloatArray, concentration: FloatArray, pseudo_tokens: float
    ) -> None:
        self.topics = topics
        self.concentration = concentration
        self.shares = concentration / concentration.sum()
        self.history: list[float] = []
        self.mean_length = 1.0
        self.pseudo_tokens = pseudo_tokens

    @abstractmethod
    def make(self, source: Source, update: bool | str) -> None:
        """Make a step.

        Parameters
        ----------
        source : Source
            Documents.
        update : bool or "shares"
            As in `tercet.likelihood.refine_topics`.
        """

    def measure_length(self, tokens: float, documents: float) -> None:
        """Note how long documents are.

        Parameters
        ----------
        tokens, documents : float
            Their numbers.
        """
        self.mean_length = max(tokens / max(documents, 1.0), 1.0)
