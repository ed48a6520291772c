"""A drive served as a block device to other programs, by nbdkit with the plugin of flashmesh."""
