"""`tercet fit`."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import click

from tercet.cli.fitting import (
    check_views,
    describe_fit,
    fit_reader,
    guess_model,
    load_ahead,
    name_output,
    read_size,
)
from tercet.cli.models import MODELS, read_settings
from tercet.cli.options import (
    INPUT,
    json_option,
    quiet_option,
    reading_options,
    split_words,
    word_options,
)
from tercet.cli.progress import watch
from tercet.cli.reading import note, open_corpus
from tercet.exceptions import ParameterError

__all__ = ["command"]

_EPILOG = """\b
Examples:
  tercet fit speeches/ --n-components 18 --stop-words english -o speeches.tercet
  tercet fit news.jsonl.gz --model single-topic -k 20 --keep-share 0.7
  tercet fit visits.csv --model bernoulli --ids patient -k auto
  tercet fit english.jsonl french.jsonl --model discrete-cca -k 10
  tercet fit hansard.jsonl hansard.jsonl --text en --second-text fr --model discrete-cca
"""


@click.command("fit", epilog=_EPILOG)
@click.argument("source", type=INPUT)
@click.argument("second", type=INPUT, required=False)
@click.option("--output", "-o", type=INPUT, help="Model file [name of the source].")
@click.option("--model", "-m", type=click.Choice(list(MODELS)), help="Kind of model.")
@click.option("--n-components", "-k", metavar="N|auto", help="Number of components.")
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="NAME=VALUE",
    help="Parameter of the model.",
)
@click.option("--seed", type=click.IntRange(min=0), help="Seed of random numbers.")
@click.option("--jobs", "-j", type=int, default=-1, help="Cores; -1 is all of them.")
@click.option(
    "--second-text", metavar="COLUMN", help="Column of texts of the second view."
)
@reading_options
@word_options
@json_option
@quiet_option
def command(
    source: Path,
    second: Path | None,
    output: Path | None,
    model: str | None,
    n_components: str | None,
    settings: tuple[str, ...],
    seed: int | None,
    jobs: int,
    second_text: str | None,
    as_json: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Learn a model from SOURCE, a folder, a file of texts or a table.

    Two files make two views of the same rows. Without --model, texts and counts get
    latent Dirichlet allocation, tables a mixture that suits their values.
    """
    size = read_size(n_components)
    given = read_settings(settings)
    if seed is not None:
        given["random_state"] = seed
    reading, words = split_words(options)
    if model is not None:
        check_views(model, 1 if second is None else 2)
    if second is not None and reading["max_bad_lines"] is None:
        # A line left out of one view would shift all that follow.
        reading["max_bad_lines"] = 0
    if second is None and second_text is not None:
        raise ParameterError(
            f"second_text={second_text!r} is for a second file; name it after the first."
        )
    with watch(quiet=quiet) as bars:
        readers = [
            open_corpus(
                source,
                bars,
                reading,
                words,
                jobs=jobs,
                quiet=quiet,
                meanwhile=partial(load_ahead, model or "lda"),
            )
        ]
        if second is not None:
            other = reading | {"text": second_text or reading["text"]}
            readers.append(
                open_corpus(second, bars, other, words, jobs=jobs, quiet=quiet)
            )
        default = guess_model(readers[0]) if second is None else "discrete-cca"
        fitted = fit_reader(
            readers,
            model or default,
            size,
            with_jobs(given, model, jobs),
            bars,
            quiet=quiet,
        )
    target = name_output(source, output)
    fitted.save(target)
    note(f"wrote {target}", quiet=quiet)
    click.echo(describe_fit(fitted, readers[0], target) if as_json else str(fitted))


def with_jobs(settings: dict[str, Any], model: str | None, jobs: int) -> dict[str, Any]:
    """Return parameters with the number of threads, for models that take one.

    Examples
    --------
    >>> from tercet.cli.commands.fit import with_jobs
    >>> with_jobs({}, "lda", 2), with_jobs({}, "topic-tree", 2)
    ({'n_jobs': 2}, {})
    """
    if model in ("topic-tree", "bisecting"):
        return settings
    return {"n_jobs": jobs} | settings
