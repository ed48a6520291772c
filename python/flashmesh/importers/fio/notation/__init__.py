"""Notation of fio: job files, options, and values."""
