"""Fast loops: flat arrays in, flat arrays out; no options, no randomness."""
