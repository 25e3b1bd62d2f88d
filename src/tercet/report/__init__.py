"""Interactive pages about a fitted model, each one file that needs no network.

`describe_page` gathers the facts, `render_page` lays them out, `write_report` does
both and puts the page in its place.
"""

from tercet.report.contents import describe_page
from tercet.report.documents import Documents
from tercet.report.pages import render_page, write_report

__all__ = ["Documents", "describe_page", "render_page", "write_report"]
