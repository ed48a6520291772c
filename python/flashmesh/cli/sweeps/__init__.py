"""Commands that simulate many drives on cores or a cluster, and what they print meanwhile."""
