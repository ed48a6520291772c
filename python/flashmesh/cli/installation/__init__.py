"""Commands on this installation: its health, and the states of drives that it keeps."""
