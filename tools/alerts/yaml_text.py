"""YAML as a person would write it: keys in their order, long texts in blocks."""

from typing import Any, Final

import yaml

_WIDTH: Final = 110


class _Dumper(yaml.SafeDumper):
    """Indents lists, and writes what has lines as lines."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:  # noqa: ARG002, FBT001, FBT002 - PyYAML's own
        """Indent lists too."""
        super().increase_indent(flow=flow, indentless=False)


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = "|" if "\n" in text else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _text)


def yaml_text(document: Any, comment: str) -> str:
    """Return a document as YAML, below a comment."""
    lines = "".join(f"# {line}\n" for line in comment.splitlines())
    body = yaml.dump(document, Dumper=_Dumper, sort_keys=False, width=_WIDTH, allow_unicode=True)
    return f"{lines}\n{body}"
