"""This installation and its machine: components, memory, and the states of drives that it keeps."""
