"""The world: the fold of events, and the geometry and relations derived from it."""
