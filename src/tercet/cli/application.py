"""The command itself: commands that load when they are called, errors in a sentence."""

from __future__ import annotations

import atexit
import gc
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import click
from click.shell_completion import CompletionItem

from tercet import __version__
from tercet.exceptions import (
    DataError,
    FileFormatError,
    ParameterError,
    RankError,
    TercetError,
)

__all__ = ["COMMANDS", "EXIT_CODES", "LazyGroup", "application", "main"]

# Name of each command, the group under which help lists it, and what it is for.
COMMANDS: dict[str, tuple[str, str]] = {
    "fit": ("learn", "Learn a model from texts or a table."),
    "select": ("learn", "Compare numbers of components side by side."),
    "tree": ("learn", "Learn a tree of topics, or print that of a model."),
    "cluster": ("learn", "Group the rows of a table into explained clusters."),
    "topics": ("use", "Print the topics or centres of a model."),
    "transform": ("use", "Write the topic proportions or clusters of rows."),
    "score": ("use", "Measure how well a model predicts held-out rows."),
    "report": ("use", "Write an interactive page about a model."),
    "info": ("files", "Tell what a model file or a data file holds."),
    "convert": ("files", "Turn texts or tables into counts, or models into tables."),
    "simulate": ("files", "Draw data from a model whose parameters are known."),
}

_HEADINGS = {"learn": "Learn", "use": "Use a model", "files": "Files"}

EXIT_CODES: dict[type[BaseException], int] = {
    ParameterError: 2,
    DataError: 3,
    FileFormatError: 4,
    RankError: 5,
    OSError: 6,
}
"""Exit code of each kind of error; the first class that fits counts."""

_INTERRUPTED = 130
_NO_MEMORY = 7

_EPILOG = """\b
Examples:
  tercet fit speeches/ --n-components 18 -o speeches.tercet
  tercet topics speeches.tercet
  tercet report speeches.tercet --corpus speeches/ -o speeches.html

\b
Exit codes: 0 done; 2 wrong option or value; 3 data that cannot be used;
4 damaged or unknown file; 5 more components than the data support;
6 a file that cannot be read or written; 7 not enough memory; 130 interrupted.

\b
Shell completion (bash; likewise zsh and fish):
  eval "$(_TERCET_COMPLETE=bash_source tercet)"
"""


class LazyGroup(click.Group):
    """A group whose commands are imported when they are needed.

    Help over all commands reads their one-line descriptions from `COMMANDS`, so
    that it loads nothing but this module.
    """

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click asks for it
        """Return the names of the commands in the order of help."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import a command."""
        if cmd_name not in COMMANDS:
            return None
        module = import_module(f"tercet.cli.commands.{cmd_name}")
        command: click.Command = module.command
        return command

    def shell_complete(
        self, ctx: click.Context, incomplete: str
    ) -> list[CompletionItem]:
        """Complete names of commands without importing them."""
        return [
            CompletionItem(name, help=text)
            for name, (_, text) in COMMANDS.items()
            if name.startswith(incomplete)
        ] + click.Command.shell_complete(self, ctx, incomplete)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find a command, or say which name is close."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            import difflib

            close = difflib.get_close_matches(args[0], COMMANDS, n=1)
            hint = f" Did you mean {close[0]!r}?" if close else ""
            known = ", ".join(COMMANDS)
            raise click.UsageError(
                f"There is no command {args[0]!r}; choose one of {known}.{hint}", ctx
            )
        return super().resolve_command(ctx, args)

    def format_commands(
        self,
        ctx: click.Context,  # noqa: ARG002 - click asks for it
        formatter: click.HelpFormatter,
    ) -> None:
        """List the commands by what they are for."""
        for group, heading in _HEADINGS.items():
            rows = [
                (name, text) for name, (kind, text) in COMMANDS.items() if kind == group
            ]
            with formatter.section(heading):
                formatter.write_dl(rows)


@click.command(
    cls=LazyGroup,
    name="tercet",
    epilog=_EPILOG,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 88},
)
@click.version_option(__version__, prog_name="tercet")
def application() -> None:
    """Learn topics, mixtures, trees and aligned views from data, in one or two passes."""


def describe_error(error: BaseException) -> str:
    """Return one line about an error, for a person at a terminal.

    Examples
    --------
    >>> from tercet.cli.application import describe_error
    >>> describe_error(FileNotFoundError(2, "No such file or directory", "a.csv"))
    'a.csv: no such file or directory. Check the path.'
    """
    if isinstance(error, OSError) and not isinstance(error, TercetError):
        reason = (error.strerror or str(error)).strip()
        reason = reason[:1].lower() + reason[1:]
        place = f"{error.filename}: " if error.filename else ""
        return f"{place}{reason}. Check the path."
    return " ".join(str(error).split())


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and exit with its code.

    Parameters
    ----------
    arguments : sequence of str or None
        Words of the command line after `tercet`; None takes those of the process.

    Returns
    -------
    int
        Exit code (see `tercet --help`).

    Examples
    --------
    >>> from tercet.cli import main
    >>> main(["no-such-command"])
    2
    """
    if arguments is None:
        # The process ends with this call; looking for cycles among all that the
        # libraries have loaded would take longer than many commands do.
        atexit.register(gc.freeze)
    try:
        with _plain_warnings():
            outcome: Any = application.main(
                args=None if arguments is None else list(arguments),
                prog_name="tercet",
                standalone_mode=False,
            )
        return outcome if isinstance(outcome, int) else 0
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        click.echo("tercet: interrupted; no output was changed.", err=True)
        return _INTERRUPTED
    except MemoryError:
        click.echo(
            "tercet: there is not enough memory. Keep fewer words with --min-df or "
            "--max-features.",
            err=True,
        )
        return _NO_MEMORY
    except (TercetError, OSError) as error:
        if isinstance(error, BrokenPipeError):
            return _close_pipe()
        click.echo(f"tercet: {describe_error(error)}", err=True)
        return next(
            (code for kind, code in EXIT_CODES.items() if isinstance(error, kind)), 1
        )


@contextmanager
def _plain_warnings() -> Iterator[None]:
    """Print warnings as sentences, each once, without places in the code."""
    import warnings

    seen: set[str] = set()

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        sentence = " ".join(str(message).split())
        if sentence not in seen:
            seen.add(sentence)
            click.echo(f"tercet: warning: {sentence}", err=True)

    with warnings.catch_warnings():
        warnings.showwarning = show
        yield


def _close_pipe() -> int:
    """End quietly when the reader of our output has gone, as `| head` does."""
    import os

    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0
