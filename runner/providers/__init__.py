"""One module per hosting path: how a harness reaches a model."""
