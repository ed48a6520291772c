"""Tables of measurements and data sheets: their readers, and the cells that they share."""
