"""From texts to counts of words."""
