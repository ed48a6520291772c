"""Commands that compare simulated drives with measured and published figures."""
