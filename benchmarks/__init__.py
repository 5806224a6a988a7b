"""Measurements against peers, side by side in one run. Each module prints a table and, with --json, its figures."""
