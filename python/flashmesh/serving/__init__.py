"""A drive that other programs use as a block device: nbdkit with the plugin of flashmesh."""
