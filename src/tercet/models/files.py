"""Fitted models in files: arrays and readable metadata, nothing that runs.

`save_model(model, path)` writes a safetensors file. Its metadata hold the name
and version of the format, the class (looked up in the fixed table `MODELS` when
read), the parameters of the constructor, and every fitted attribute named in the
class's tuple `fitted_state` that the model has. Arrays become tensors named after
the attribute; the rest becomes JSON, in which a value that JSON does not know is
an object with the key "@":

    {"@": "array", "name": "components_"}        a tensor of the file
    {"@": "names", "values": [...]}              an array of strings
    {"@": "number", "value": "inf"}              inf, -inf and nan
    {"@": "tuple", "values": [...]}              a tuple
    {"@": "Outcome", "status": ..., ...}         a record of `RECORDS`, by its fields
    {"@": "family", "name": ..., "settings": {}} a family of `tercet.families`

A class whose state has other records (the nodes of a tree, say) keeps them as
dicts, lists and arrays in an attribute or property and rebuilds them in
`_restore()`, which is called, if there is one, after the attributes are set.
A generator given as `random_state` is not kept; the loaded model has None.

`load(path)`, public as `tercet.load`, reads the file back. What is damaged,
unknown, or of a later version is a `FileFormatError`.
"""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from importlib import import_module
from os import PathLike
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from tercet.exceptions import FileFormatError, ParameterError, TercetError
from tercet.flow import FAMILIES, Family, Moments, Outcome, Status, Verdict
from tercet.moments import TiltedSums, TwoViewMoments
from tercet.storage import replace_file

__all__ = ["MODELS", "RECORDS", "load", "save_model"]

FORMAT = "tercet-model"
VERSION = 1

# Public names of the package that a file may name.
MODELS = frozenset(
    {
        "SingleTopicModel",
        "LatentDirichletAllocation",
        "DiscreteICA",
        "BernoulliMixture",
        "PoissonMixture",
        "SphericalGaussianMixture",
        "TopicTree",
        "BisectingMoments",
        "DiscreteCCA",
        "NonGaussianCCA",
        "MixedCCA",
        "CumulantICA",
    }
)

RECORDS: dict[str, type] = {
    "Outcome": Outcome,
    "Verdict": Verdict,
    "Moments": Moments,
    "TiltedSums": TiltedSums,
    "TwoViewMoments": TwoViewMoments,
}

_Arrays = dict[str, Any]


def save_model(model: Any, path: str | PathLike[str]) -> None:
    """Write a fitted model to a safetensors file.

    The file is written beside its place and renamed, so that an interrupted
    write leaves what was there before.

    Parameters
    ----------
    model : estimator
        A fitted model of one of the classes in `MODELS`.
    path : path
        Where to write.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np
    >>> import tercet
    >>> X = np.random.default_rng(0).poisson(2.0, size=(80, 6))
    >>> model = tercet.SingleTopicModel(2).fit(X)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(pathlib.Path(folder) / "topics.safetensors")
    ...     again = tercet.load(pathlib.Path(folder) / "topics.safetensors")
    >>> bool((again.components_ == model.components_).all())
    True
    """
    kind = type(model).__name__
    if kind not in MODELS:
        raise ParameterError(
            f"A model of class {kind!r} has no file format; these have: "
            f"{', '.join(sorted(MODELS))}."
        )
    arrays: _Arrays = {}
    state = {
        name: _encode(getattr(model, name), name, arrays)
        for name in type(model).fitted_state
        if hasattr(model, name)
    }
    parameters = {
        name: _encode(_keep_parameter(name, value), f"parameter:{name}", arrays)
        for name, value in model.get_params(deep=False).items()
    }
    header = _write_json({"parameters": parameters, "state": state})
    metadata = {
        "format": FORMAT,
        "version": str(VERSION),
        "model": kind,
        "header": header,
        "checksum": _check_sum(header, arrays),
    }
    with replace_file(path) as part:
        save_file(arrays, part, metadata=metadata)


def load(path: str | PathLike[str]) -> Any:
    """Read a model that `save` wrote.

    Parameters
    ----------
    path : path
        File to read.

    Returns
    -------
    estimator
        The fitted model.

    Raises
    ------
    FileFormatError
        The file is damaged, of another kind, or of a later version.

    Examples
    --------
    >>> from tercet.models.files import load
    >>> load(__file__)
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
        if _check_sum(metadata["header"], arrays) != metadata["checksum"]:
            raise ValueError("its checksum does not fit its contents")
        return _rebuild(metadata["model"], json.loads(metadata["header"]), arrays)
    except (FileNotFoundError, FileFormatError):
        raise
    except (
        SafetensorError,
        AttributeError,
        KeyError,
        OSError,
        TypeError,
        ValueError,
        TercetError,
    ) as error:
        raise FileFormatError(
            f"{path} does not hold a Tercet model, or is damaged ({error}). Save the "
            "model again with model.save(path)."
        ) from error


def _check_format(metadata: dict[str, str], path: str | PathLike[str]) -> None:
    if metadata.get("format") != FORMAT:
        raise FileFormatError(
            f"{path} holds {metadata.get('format', 'something else')!r}, not {FORMAT!r}; "
            "models are written by model.save(path)."
        )
    if metadata.get("version") != str(VERSION):
        raise FileFormatError(
            f"{path} has version {metadata.get('version')!r} of the format; this Tercet "
            f"reads version {VERSION}. Update Tercet."
        )
    if metadata.get("model") not in MODELS:
        raise FileFormatError(
            f"{path} holds a model of the unknown class {metadata.get('model')!r}; this "
            f"Tercet knows {', '.join(sorted(MODELS))}. Update Tercet."
        )


def _rebuild(kind: str, header: dict[str, Any], arrays: _Arrays) -> Any:
    # The class is a public name of the package, whichever room it lives in.
    model_class = getattr(import_module("tercet"), kind)
    parameters = {
        name: _decode(value, arrays) for name, value in header["parameters"].items()
    }
    model = model_class(**parameters)
    unknown = set(header["state"]) - set(model_class.fitted_state)
    if unknown:
        raise ValueError(f"{kind} has no fitted attributes {sorted(unknown)}")
    for name, value in header["state"].items():
        setattr(model, name, _decode(value, arrays))
    restore = getattr(model, "_restore", None)
    if restore is not None:
        restore()
    return model


def _keep_parameter(name: str, value: Any) -> Any:
    """Return what a file keeps of a parameter."""
    if name == "random_state" and not isinstance(value, int | np.integer):
        return None
    return value


def _encode(value: Any, name: str, arrays: _Arrays) -> Any:
    """Return JSON for a value; its arrays are put aside under names."""
    if isinstance(value, Enum):
        return value.value
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, np.generic):
        return _encode(value.item(), name, arrays)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else {"@": "number", "value": str(value)}
    if isinstance(value, np.ndarray):
        return _encode_array(value, name, arrays)
    if isinstance(value, Mapping):
        return _encode_mapping(value, name, arrays)
    if isinstance(value, tuple | list):
        values = [_encode(v, f"{name}.{i}", arrays) for i, v in enumerate(value)]
        return {"@": "tuple", "values": values} if isinstance(value, tuple) else values
    return _encode_record(value, name, arrays)


def _encode_array(value: Any, name: str, arrays: _Arrays) -> dict[str, Any]:
    if value.dtype.kind in "OUT":
        return {"@": "names", "values": [str(entry) for entry in value.ravel()]}
    # A private copy in row order: safetensors writes the buffer as it lies.
    arrays[name] = np.array(value, order="C")
    return {"@": "array", "name": name}


def _encode_mapping(
    value: Mapping[Any, Any], name: str, arrays: _Arrays
) -> dict[str, Any]:
    if "@" in value or not all(isinstance(key, str) for key in value):
        raise ParameterError(
            f"{name} cannot be saved: the keys of a mapping must be strings other than '@'."
        )
    return {key: _encode(part, f"{name}.{key}", arrays) for key, part in value.items()}


def _encode_record(value: Any, name: str, arrays: _Arrays) -> dict[str, Any]:
    kind = type(value).__name__
    if is_dataclass(value) and RECORDS.get(kind) is type(value):
        parts = {
            f.name: _encode(getattr(value, f.name), f"{name}.{f.name}", arrays)
            for f in fields(value)
        }
        return {"@": kind} | parts
    if isinstance(value, Family):
        settings = _encode_mapping(value.settings, f"{name}.settings", arrays)
        return {"@": "family", "name": value.name, "settings": settings}
    raise ParameterError(
        f"{name} of type {kind} cannot be kept in a file; replace it by numbers, strings "
        "or arrays before saving."
    )


def _decode(value: Any, arrays: _Arrays) -> Any:
    """Return the value that JSON stands for."""
    if isinstance(value, list):
        return [_decode(part, arrays) for part in value]
    if not isinstance(value, dict):
        return value
    kind = value.get("@")
    if kind == "array":
        return arrays[value["name"]]
    if kind == "names":
        return np.array([str(entry) for entry in value["values"]], dtype=object)
    if kind == "number":
        return float(value["value"])
    parts = {key: _decode(part, arrays) for key, part in value.items() if key != "@"}
    return parts if kind is None else _decode_record(kind, parts)


def _decode_record(kind: str, parts: dict[str, Any]) -> Any:
    """Return the value of a tagged object whose parts are decoded already."""
    if kind == "tuple":
        return tuple(parts["values"])
    if kind == "family":
        return FAMILIES[parts["name"]](**parts["settings"])
    if kind not in RECORDS:
        raise ValueError(f"it holds a record of the unknown kind {kind!r}")
    if kind == "Outcome":
        parts["status"] = Status(parts["status"])
    return RECORDS[kind](**parts)


def _write_json(header: dict[str, Any]) -> str:
    text = json.dumps(header, ensure_ascii=False)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        # Half a surrogate pair in a name has no UTF-8; JSON can escape it.
        return json.dumps(header)
    return text


def _check_sum(header: str, arrays: _Arrays) -> str:
    total = zlib.crc32(header.encode("utf-8"))
    for name in sorted(arrays):
        total = zlib.crc32(
            np.ascontiguousarray(arrays[name]).view(np.uint8).data, total
        )
    return f"{total:08x}"
