"""Pages of papers, with their charts and appendices."""
