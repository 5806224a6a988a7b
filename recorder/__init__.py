"""Live runs: participants, physics backends, and the recording of an episode."""
