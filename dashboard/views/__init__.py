"""One file a page; pages do not import each other."""
