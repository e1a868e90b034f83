"""The packages, with folders beside ``tcsmt`` that are installed as parts of it; and the description."""

import re
from pathlib import Path

from setuptools import find_packages, setup


def description() -> str:
    """The README for a package index: no files lie beside it, so without pictures, and links as text."""
    text = Path(__file__).with_name("README.md").read_text(encoding="utf-8")
    text = re.sub(r"^!\[[^\]]*\]\((?!https?:)[^)]*\)\n", "", text, flags=re.MULTILINE)
    text = re.sub(r"\[([^\]]*)\]\((?!https?:)[^)]*\)", r"\1", text)
    return f"{text}\nThe documentation and the pictures are in the source distribution (`docs`, `results`).\n"


#: Where they are in the repository.
BESIDE = {"tcsmt.properties": "properties", "tcsmt.interop.exports.acl2.by_hand": "results/theorems/acl2"}

setup(
    packages=[*find_packages(include=["tcsmt", "tcsmt.*"]), *BESIDE],
    package_dir=BESIDE,
    long_description=description(),
    long_description_content_type="text/markdown",
)
