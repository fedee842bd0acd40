"""Modules and functions stay readable. The ceilings have no exceptions."""

from tests.tidy.source_tree import functions, named, python_files

MODULE_LINES_MAX = 400
FUNCTION_LINES_MAX = 60


def test_no_file_is_too_long() -> None:
    """No Python file is longer than 400 lines."""
    lengths = {
        named(path): len(path.read_text(encoding="utf-8").splitlines()) for path in python_files()
    }
    assert lengths
    assert {name: size for name, size in lengths.items() if size > MODULE_LINES_MAX} == {}


def test_no_function_is_too_long() -> None:
    """No function is longer than 60 lines, its docstring included."""
    lengths = {
        f"{named(path)}:{function.lineno} {function.name}": function.end_lineno
        - function.lineno
        + 1
        for path in python_files()
        for function in functions(path)
        if function.end_lineno is not None
    }
    assert lengths
    assert {name: size for name, size in lengths.items() if size > FUNCTION_LINES_MAX} == {}
