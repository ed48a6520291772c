"""Streams of a configuration from jobs of fio: requests, sizes, addresses, arrivals and ends."""
