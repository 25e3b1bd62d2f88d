"""Fitted topics handed over to other packages, as a start or as an equal.

Both targets keep topics as Dirichlet pseudo-counts. Theirs become
`prior + components_ * tokens`, with the tokens that each topic accounted for at
fitting, so that their own steps go on from here with the weight of the data
that has been seen.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
from scipy.special import digamma

from tercet.exceptions import DataError, ParameterError
from tercet.flow import FloatArray, MomentPlan
from tercet.models.passing import BothPass, LengthPass
from tercet.moments import TallyPass

__all__ = ["convert_to_gensim", "convert_to_sklearn", "prepare_pyldavis"]

# Small beside any count, so that topics pass over unchanged.
_WORD_PRIOR = 0.01


def convert_to_sklearn(model: Any) -> Any:
    """Return a fitted `sklearn.decomposition.LatentDirichletAllocation`.

    It knows one prior for all topics: the mean of `concentration_`.

    Parameters
    ----------
    model : fitted topic model
        With `components_`, `weights_` and `concentration_`.

    Returns
    -------
    sklearn.decomposition.LatentDirichletAllocation
        Works like one that was fitted: `transform`, `perplexity`, and
        `partial_fit` to go on.

    Examples
    --------
    >>> import numpy as np
    >>> import tercet
    >>> X = np.random.default_rng(0).poisson(2.0, size=(80, 6))
    >>> other = tercet.LatentDirichletAllocation(1).fit(X).to_sklearn()
    >>> other.transform(X).shape
    (80, 1)
    """
    from sklearn.decomposition import LatentDirichletAllocation

    k = len(model.components_)
    prior = float(model.concentration_.sum()) / k
    other = LatentDirichletAllocation(
        n_components=k,
        doc_topic_prior=prior,
        topic_word_prior=_WORD_PRIOR,
        total_samples=model.n_samples_seen_,
        random_state=0,
    )
    counts = _count_words(model) + _WORD_PRIOR
    other.components_ = counts
    other.exp_dirichlet_component_ = np.exp(
        digamma(counts) - digamma(counts.sum(axis=1, keepdims=True))
    )
    other.doc_topic_prior_ = prior
    other.topic_word_prior_ = _WORD_PRIOR
    other.n_batch_iter_ = 1
    other.n_iter_ = int(model.n_iter_)
    other.random_state_ = np.random.RandomState(0)
    other.n_features_in_ = int(model.n_features_in_)
    if hasattr(model, "feature_names_in_"):
        other.feature_names_in_ = model.feature_names_in_
    return other


def convert_to_gensim(model: Any) -> Any:
    """Return a `gensim.models.LdaModel` with the same topics.

    Parameters
    ----------
    model : fitted topic model
        With `components_`, `weights_` and `concentration_`.

    Returns
    -------
    gensim.models.LdaModel
        Word ids are column numbers; `update` goes on from here.
    """
    models = _import("gensim.models")
    names = model._word_names()  # noqa: SLF001
    other = models.LdaModel(
        id2word=dict(enumerate(names)),
        num_topics=len(model.components_),
        alpha=model.concentration_.astype(np.float32),
        eta=_WORD_PRIOR,
        random_state=0,
        dtype=np.float32,
    )
    other.state.sstats = _count_words(model).astype(np.float32)
    other.state.numdocs = int(model.n_samples_seen_)
    other.sync_state()
    return other


def prepare_pyldavis(model: Any, X: Any, **options: Any) -> Any:
    """Return what pyLDAvis draws.

    Parameters
    ----------
    model : fitted topic model
        The topics.
    X : rows
        Documents; words that none of them has, and documents without words,
        are left out.
    **options
        Handed to `pyLDAvis.prepare`; the order of the topics is kept unless
        `sort_topics=True`.

    Returns
    -------
    pyLDAvis.PreparedData
        For `pyLDAvis.display` or `pyLDAvis.save_html`.
    """
    pyldavis = _import("pyLDAvis")
    lengths, proportions, totals = _describe_rows(model, X)
    full = lengths > 0.0
    used = totals > 0.0
    topics = model.components_[:, used]
    mass = topics.sum(axis=1, keepdims=True)
    if mass.min() <= 0.0:
        raise DataError(
            f"X has none of the words of topic {int(mass.argmin())}; give documents "
            "of the kind that the model was fitted to."
        )
    names = np.array(model._word_names(), dtype=object)[used]  # noqa: SLF001
    settings: dict[str, Any] = {"sort_topics": False, "n_jobs": 1}
    return pyldavis.prepare(
        topic_term_dists=topics / mass,
        doc_topic_dists=proportions[full],
        doc_lengths=lengths[full],
        vocab=names.tolist(),
        term_frequency=totals[used],
        **(settings | options),
    )


def _describe_rows(model: Any, X: Any) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return lengths and proportions of documents, and totals of words."""
    source = model._open_rows(X, reset=False)  # noqa: SLF001
    if not source.rereadable:
        raise ParameterError(
            "X is an iterator, which is read once; to_pyldavis needs documents that can "
            "be read again, such as an array or a callable that gives blocks."
        )
    tally = TallyPass(source.n_features, MomentPlan("rows"))
    lengths, found = source.run(BothPass(LengthPass(), tally))
    shares = model._infer(source, model.transform_methods[0])  # noqa: SLF001
    return lengths.join(), shares, found.first[0]


def _count_words(model: Any) -> FloatArray:
    """Return how often each topic emitted each word at fitting, by expectation."""
    tokens = model.mean_length_ * model.n_samples_seen_
    counts = model.components_ * (model.weights_ * tokens)[:, None]
    return np.asarray(counts)


def _import(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError as error:
        package = name.partition(".")[0]
        raise ImportError(
            f"{package} is not installed; `pip install {package}` brings it."
        ) from error
