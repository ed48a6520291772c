"""Streams of a run: their figures by kind of request, their limits, and how they slow each other down."""
