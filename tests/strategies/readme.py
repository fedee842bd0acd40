"""The worked example of strategies/README.md, as a module file that a user would have."""

import re
from pathlib import Path
from typing import Final

README: Final = Path(__file__).resolve().parents[2] / "strategies" / "README.md"
MODULE: Final = "allocation_of_my_company"
_BLOCK: Final = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


def write_example(folder: Path) -> Path:
    """Write all Python of the page into one module and return its file."""
    blocks = _BLOCK.findall(README.read_text(encoding="utf-8"))
    assert blocks
    path = folder / f"{MODULE}.py"
    path.write_text("\n\n".join(blocks), encoding="utf-8")
    return path
