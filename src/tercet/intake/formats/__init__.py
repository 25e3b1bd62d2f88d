"""Files of texts, tables and counts, each read in bounded memory."""
