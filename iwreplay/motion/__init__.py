"""The human action layer: where to stand, which way to walk, how to reach; refusals before anything moves."""
