"""Language models behind the port `Model`."""
