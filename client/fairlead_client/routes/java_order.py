"""The order of Java's strings."""


def java_order(text: str) -> bytes:
    """Return the sort key that puts texts in the order of `String#compareTo`: by UTF-16 units."""
    return text.encode("utf-16-be", "surrogatepass")
