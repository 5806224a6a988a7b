"""Physics backends behind `iwreplay.ports.Simulator`. Each is imported where it is used, not here."""
