"""Many runs: what varies between them, who runs them, and where their results are kept."""
