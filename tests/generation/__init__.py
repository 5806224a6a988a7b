"""Tests of task generation."""
