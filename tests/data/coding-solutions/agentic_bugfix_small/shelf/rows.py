"""Rows of books."""


def _checked(width):
    if width < 1:
        raise ValueError("a row holds at least one book")
    return width


def split_rows(books, width):
    """The books in rows of at most ``width``."""
    width = _checked(width)
    return [books[start : start + width] for start in range(0, len(books), width)]


def row_count(books, width):
    """How many rows ``split_rows`` gives."""
    return -(-len(books) // _checked(width))
