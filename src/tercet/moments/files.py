"""Moments in a file: arrays and readable metadata, nothing that runs."""

from __future__ import annotations

import json
from os import PathLike
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from tercet.exceptions import FileFormatError
from tercet.flow import FAMILIES, Moments
from tercet.storage import replace_file

__all__ = ["load_moments", "save_moments"]

_FORMAT = "tercet-moments"
_VERSION = 1
_ARRAYS = ("basis", "masses", "lengths", "short", "first", "pair", "third")
_OPTIONAL_ARRAYS = ("cross", "energy", "slices", "slice_features")
_NUMBERS = ("orthonormal", "n_rows", "total_weight", "longest", "power")


def save_moments(moments: Moments, path: str | PathLike[str]) -> None:
    """Write sums to a safetensors file.

    The file is written beside its place and renamed, so that an interrupted
    write leaves what was there before.

    Parameters
    ----------
    moments : Moments
        Sums to keep.
    path : path
        Where to write.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import numpy as np
    >>> from tercet.moments import collect, load_moments, save_moments
    >>> X = np.random.default_rng(0).poisson(1.0, size=(50, 6))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "sums.safetensors"
    ...     save_moments(collect(X, "poisson", 2, random_state=0), path)
    ...     load_moments(path).n_rows
    50
    """
    arrays = {name: getattr(moments, name) for name in _ARRAYS}
    for name in _OPTIONAL_ARRAYS:
        value = getattr(moments, name)
        if value is not None:
            arrays[name] = value
    header = {
        "family": moments.family.name,
        "settings": dict(moments.family.settings),
        "feature_names": moments.feature_names,
    } | {name: getattr(moments, name) for name in _NUMBERS}
    metadata = {
        "format": _FORMAT,
        "version": str(_VERSION),
        "header": json.dumps(header, ensure_ascii=False),
    }
    contiguous = {name: np.ascontiguousarray(value) for name, value in arrays.items()}
    with replace_file(path) as part:
        save_file(contiguous, part, metadata=metadata)


def load_moments(path: str | PathLike[str]) -> Moments:
    """Read sums that `save_moments` wrote.

    Parameters
    ----------
    path : path
        File to read.

    Returns
    -------
    Moments
        The sums, with their family rebuilt from its settings.

    Raises
    ------
    FileFormatError
        The file is damaged, of another kind, or of a later version.

    Examples
    --------
    >>> from tercet.moments import load_moments
    >>> load_moments(__file__)
    Traceback (most recent call last):
    ...
    tercet.exceptions.FileFormatError: ...
    """
    try:
        with safe_open(path, framework="numpy") as file:
            metadata = file.metadata() or {}
            _check_format(metadata, path)
            # safe_open is a mapping only in part: it has keys() but no iteration.
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        return _rebuild(json.loads(metadata["header"]), arrays)
    except FileNotFoundError:
        raise
    except (
        SafetensorError,
        KeyError,
        TypeError,
        json.JSONDecodeError,
        OSError,
    ) as error:
        raise FileFormatError(
            f"{path} does not hold Tercet moments, or is damaged ({error})."
        ) from error


def _check_format(metadata: dict[str, str], path: str | PathLike[str]) -> None:
    if metadata.get("format") != _FORMAT:
        raise FileFormatError(
            f"{path} holds {metadata.get('format', 'something else')!r}, not "
            f"{_FORMAT!r}; moments are written by tercet.moments.save_moments."
        )
    if metadata.get("version") != str(_VERSION):
        raise FileFormatError(
            f"{path} has version {metadata.get('version')!r} of the format; this "
            f"Tercet reads version {_VERSION}. Update Tercet."
        )


def _rebuild(header: dict[str, Any], arrays: dict[str, Any]) -> Moments:
    missing = [name for name in _ARRAYS if name not in arrays]
    if missing:
        raise KeyError(f"arrays {missing} are missing")
    names = header["feature_names"]
    values: dict[str, Any] = {name: arrays[name] for name in _ARRAYS}
    values |= {name: arrays.get(name) for name in _OPTIONAL_ARRAYS}
    values |= {name: header[name] for name in _NUMBERS}
    moments = Moments(
        family=FAMILIES[header["family"]](**header["settings"]),
        feature_names=None if names is None else tuple(names),
        **values,
    )
    _check_shapes(moments)
    return moments


def _check_shapes(moments: Moments) -> None:
    """Refuse arrays that do not fit together."""
    d, p = moments.basis.shape
    expected = {
        "masses": (3,),
        "lengths": (5,),
        "short": (3,),
        "first": (3, d),
        "pair": (d, p),
        "third": (p, p, p),
    }
    for name, shape in expected.items():
        found = getattr(moments, name).shape
        if found != shape:
            raise KeyError(f"{name} has shape {found}, not {shape}")
