"""Moments in a file: arrays and readable metadata, nothing that runs."""

from __future__ import annotations

import json
import zlib
from os import PathLike
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from tercet.exceptions import FileFormatError, ParameterError
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
    if not isinstance(moments, Moments):
        raise ParameterError(
            f"moments={type(moments).__name__} is not a Moments; collect it from rows with "
            "tercet.moments.collect(X, family, n_components)."
        )
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
    contiguous = {name: np.ascontiguousarray(value) for name, value in arrays.items()}
    text = json.dumps(header, ensure_ascii=False)
    metadata = {
        "format": _FORMAT,
        "version": str(_VERSION),
        "header": text,
        "checksum": _checksum(text, contiguous),
    }
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
        text = metadata["header"]
        if metadata["checksum"] != _checksum(text, arrays):
            raise KeyError("what was written and what is there differ")
        return _rebuild(json.loads(text), arrays)
    except FileNotFoundError:
        raise
    except (
        SafetensorError,
        KeyError,
        TypeError,
        ParameterError,
        json.JSONDecodeError,
        UnicodeDecodeError,
        OSError,
    ) as error:
        raise FileFormatError(
            f"{path} does not hold Tercet moments, or is damaged ({error})."
        ) from error


def _checksum(text: str, arrays: dict[str, Any]) -> str:
    """Return a number that changes when a bit of the file does."""
    total = zlib.crc32(text.encode())
    for name in sorted(arrays):
        total = zlib.crc32(arrays[name].data, zlib.crc32(name.encode(), total))
    return f"{total:08x}"


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
    values |= {name: _read_number(name, header[name]) for name in _NUMBERS}
    moments = Moments(
        family=FAMILIES[header["family"]](**header["settings"]),
        feature_names=None if names is None else tuple(names),
        **values,
    )
    _check_shapes(moments)
    _check_values(moments)
    return moments


def _read_number(name: str, value: Any) -> Any:
    """Return a number of the header as what it must be."""
    kind = {"orthonormal": bool, "n_rows": int}.get(name, float)
    sound = type(value) is kind or (kind is float and type(value) is int)
    if not sound or not 0 <= value < float("inf"):
        raise KeyError(f"{name}={value!r} is not the number that belongs there")
    return kind(value)


def _check_shapes(moments: Moments) -> None:
    """Refuse arrays that do not fit together."""
    if moments.basis.ndim != 2:
        raise KeyError(f"basis has shape {moments.basis.shape}, not (d, p)")
    d, p = moments.basis.shape
    features = moments.slice_features
    m = 0 if features is None else features.size
    expected = {
        "basis": (d, p),
        "masses": (3,),
        "lengths": (5,),
        "short": (3,),
        "first": (3, d),
        "pair": (d, p),
        "third": (p, p, p),
        "cross": (d, p),
        "energy": (d,),
        "slices": (m, p, p),
        "slice_features": (m,),
    }
    for name, shape in expected.items():
        array = getattr(moments, name)
        if array is None:
            continue
        kind = np.int64 if name in ("short", "slice_features") else np.float64
        if array.shape != shape or array.dtype != kind:
            raise KeyError(
                f"{name} has shape {array.shape} and dtype {array.dtype}, not {shape} "
                f"and {np.dtype(kind)}"
            )
    names = moments.feature_names
    if names is not None and len(names) != d:
        raise KeyError(f"there are {len(names)} feature_names for {d} features")


def _check_values(moments: Moments) -> None:
    """Refuse sums that no rows can have."""
    for name in ("basis", "masses", "lengths", "first", "pair", "third", "cross"):
        array = getattr(moments, name)
        if array is not None and not np.isfinite(array).all():
            raise KeyError(f"{name} holds NaN or infinite entries")
    if min(moments.masses.min(), moments.lengths.min(), moments.short.min()) < 0:
        raise KeyError("masses, lengths or short hold negative entries")
    plan = moments.family.plan
    separate = plan.weighting in ("document", "three-words")
    wanted = (separate, plan.energy, moments.slice_features is not None)
    there = tuple(
        array is not None for array in (moments.cross, moments.energy, moments.slices)
    )
    if wanted != there:
        raise KeyError("cross, energy or slices are missing, or there without need")
    features = moments.slice_features
    if features is not None:
        inside = (features >= 0) & (features < moments.n_features)
        if not inside.all() or np.unique(features).size != features.size:
            raise KeyError("slice_features are not distinct features")
