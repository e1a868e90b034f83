"""The packages: those of ``tcsmt/``, and ``properties/``, which is installed as a part of it."""

from setuptools import find_packages, setup

setup(
    packages=[*find_packages(include=["tcsmt", "tcsmt.*"]), "tcsmt.properties"],
    package_dir={"tcsmt.properties": "properties"},
)
