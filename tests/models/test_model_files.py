"""Models in files: what comes back is what was written, and damage is named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import save_file

import tercet
from tercet.exceptions import FileFormatError, ParameterError

MODELS = (
    tercet.SingleTopicModel(2),
    tercet.LatentDirichletAllocation(2, refine=2),
    tercet.LatentDirichletAllocation(2, concentration=0.7, refine=0),
    tercet.DiscreteICA(2, refine=0),
)


def draw_rows(seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    rates = np.array([[6.0, 5.0, 0.3, 0.2, 1.0], [0.2, 0.3, 5.0, 6.0, 1.0]])
    return rng.poisson(rng.gamma(0.5, 2.0, size=(400, 2)) @ rates) + 1


@pytest.fixture(params=MODELS, ids=repr)
def model(request: pytest.FixtureRequest) -> Any:
    return request.param.fit(draw_rows())


def read(path: Path) -> tuple[dict[str, str], dict[str, Any]]:
    with safe_open(path, framework="numpy") as file:
        names = list(file.keys())
        return dict(file.metadata()), {name: file.get_tensor(name) for name in names}


class TestRoundTrip:
    def test_the_model_comes_back_bit_for_bit(self, model: Any, tmp_path: Path) -> None:
        path = tmp_path / "model.safetensors"
        model.save(path)
        again = tercet.load(path)
        X = draw_rows(1)
        assert type(again) is type(model)
        assert again.get_params() == model.get_params()
        assert again.transform(X).tobytes() == model.transform(X).tobytes()
        assert again.score(X) == model.score(X)
        assert again.outcome_ == model.outcome_
        assert str(again) == str(model)
        assert again._repr_html_() == model._repr_html_()

    def test_batches_go_on_after_loading(self, model: Any, tmp_path: Path) -> None:
        path = tmp_path / "model.safetensors"
        model.save(path)
        again = tercet.load(path)
        ours = model.partial_fit(draw_rows(2))
        theirs = again.partial_fit(draw_rows(2))
        assert theirs.components_.tobytes() == ours.components_.tobytes()

    def test_metadata_can_be_read_by_people(self, tmp_path: Path) -> None:
        path = tmp_path / "model.safetensors"
        tercet.SingleTopicModel(2, weighting="document").fit(draw_rows()).save(path)
        metadata, _ = read(path)
        assert metadata["model"] == "SingleTopicModel"
        header = json.loads(metadata["header"])
        assert header["parameters"]["weighting"] == "document"
        assert header["state"]["n_features_in_"] == 5

    def test_names_of_any_script_survive(self, tmp_path: Path) -> None:
        pandas = pytest.importorskip("pandas")
        names = ["слово", "言葉", "naïve\n", "", "\ud800x"]
        frame = pandas.DataFrame(draw_rows(), columns=names)
        model = tercet.SingleTopicModel(2).fit(frame)
        model.save(tmp_path / "model.safetensors")
        again = tercet.load(tmp_path / "model.safetensors")
        assert list(again.feature_names_in_) == names
        assert again.top_words(5) == model.top_words(5)

    def test_an_unfitted_model_is_not_saved(self, tmp_path: Path) -> None:
        from sklearn.exceptions import NotFittedError

        with pytest.raises(NotFittedError):
            tercet.SingleTopicModel(2).save(tmp_path / "model.safetensors")
        assert not list(tmp_path.iterdir())

    def test_an_interrupted_write_leaves_what_was_there(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from tercet.models import files

        path = tmp_path / "model.safetensors"
        model = tercet.SingleTopicModel(2).fit(draw_rows())
        model.save(path)
        before = path.read_bytes()

        def fail(*_: Any, **__: Any) -> None:
            raise OSError("no space left")

        monkeypatch.setattr(files, "save_file", fail)
        with pytest.raises(OSError, match="no space"):
            model.save(path)
        assert path.read_bytes() == before
        assert [p.name for p in tmp_path.iterdir()] == ["model.safetensors"]


class TestDamage:
    @pytest.fixture
    def saved(self, tmp_path: Path) -> Path:
        path = tmp_path / "model.safetensors"
        tercet.SingleTopicModel(2).fit(draw_rows()).save(path)
        return path

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"version": "99"}, "version '99'"),
            ({"format": "something"}, "'something'"),
            ({"model": "Path"}, "unknown class 'Path'"),
            ({"model": "load"}, "unknown class 'load'"),
            ({"header": "{}"}, "checksum"),
            ({"checksum": "00000000"}, "checksum"),
        ],
        ids=str,
    )
    def test_other_metadata_are_refused(
        self, saved: Path, change: dict[str, str], message: str
    ) -> None:
        metadata, arrays = read(saved)
        save_file(arrays, saved, metadata=metadata | change)
        with pytest.raises(FileFormatError, match=message):
            tercet.load(saved)

    def test_changed_numbers_are_refused(self, saved: Path) -> None:
        metadata, arrays = read(saved)
        arrays["components_"] = arrays["components_"] + 1e-9
        save_file(arrays, saved, metadata=metadata)
        with pytest.raises(FileFormatError, match="checksum"):
            tercet.load(saved)

    def test_every_truncation_is_refused(self, saved: Path) -> None:
        whole = saved.read_bytes()
        for length in np.linspace(0, len(whole) - 1, 25).astype(int):
            saved.write_bytes(whole[:length])
            with pytest.raises(FileFormatError):
                tercet.load(saved)

    def test_flipped_bytes_are_refused_or_harmless(self, saved: Path) -> None:
        whole = saved.read_bytes()
        X = draw_rows(1)
        expected = tercet.load(saved).transform(X)
        for place in np.linspace(0, len(whole) - 1, 60).astype(int):
            damaged = bytearray(whole)
            damaged[place] ^= 0x41
            saved.write_bytes(bytes(damaged))
            try:
                model = tercet.load(saved)
            except FileFormatError:
                continue
            assert model.transform(X).tobytes() == expected.tobytes()

    def test_other_files_are_refused(self, tmp_path: Path) -> None:
        path = tmp_path / "notes.txt"
        path.write_text("not a model")
        with pytest.raises(FileFormatError, match="does not hold a Tercet model"):
            tercet.load(path)
        with pytest.raises(FileNotFoundError):
            tercet.load(tmp_path / "nothing")

    def test_what_has_no_format_is_not_saved(self, tmp_path: Path) -> None:
        class Other(tercet.SingleTopicModel):
            pass

        model = Other(2).fit(draw_rows())
        with pytest.raises(ParameterError, match="has no file format"):
            model.save(tmp_path / "x")
