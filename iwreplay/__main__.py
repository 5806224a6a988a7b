"""`python -m iwreplay` is the command line."""

from __future__ import annotations

from iwreplay.cli.main import main

main()
