"""The command `tercet`: texts and tables in, models, tables and reports out."""

from tercet.cli.application import main

__all__ = ["main"]
