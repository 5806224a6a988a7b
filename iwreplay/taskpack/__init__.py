"""Task packs: the frozen description of a task, its loader and its lints."""
