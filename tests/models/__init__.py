"""Tests of models at providers, over HTTP on this machine."""
