"""iwreplay: record, replay and re-score closed-loop episodes of an egocentric Assistant guiding a Human.

Importing this package stays light: no Arrow, database, renderer or physics is loaded until it is used.
"""

from __future__ import annotations

__all__ = ["__version__"]

__version__ = "0.1.0"
