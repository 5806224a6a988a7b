"""Reports: every table and figure of the paper for what was recorded, with intervals, beside what was published.

Pure functions of episodes' scores; chance is seeded. `iwreplay.app.reporting` gathers episodes and writes files.
"""

from __future__ import annotations

from iwreplay.reports.document import Figure, Number, Report, Section, Table
from iwreplay.reports.instances import Arm, Instance, LeftOut, Selection, TaskFacts, select
from iwreplay.reports.page import page
from iwreplay.reports.report import make_report
from iwreplay.reports.static import StaticAnswer
from iwreplay.reports.text import csv_files, markdown

__all__ = [
    "Arm",
    "Figure",
    "Instance",
    "LeftOut",
    "Number",
    "Report",
    "Section",
    "Selection",
    "StaticAnswer",
    "Table",
    "TaskFacts",
    "csv_files",
    "make_report",
    "markdown",
    "page",
    "select",
]
