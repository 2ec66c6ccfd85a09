"""What a run looks like: one self-contained web page, with curves, tables and animations."""
