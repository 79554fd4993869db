"""One module per coding agent: command, environment, event stream to usage."""
