"""Scenes: the engine-neutral description, its loader and its geometry."""
