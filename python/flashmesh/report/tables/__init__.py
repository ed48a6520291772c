"""Tables of points: their selection and order, their cells, and marks for noise."""
