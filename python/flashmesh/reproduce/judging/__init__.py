"""Judgement of measured values: verdicts, outcomes, and their summaries and texts."""
