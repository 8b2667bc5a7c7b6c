# SPDX-License-Identifier: Apache-2.0
"""
Makes the wheel of spate-ring for pip (PEP 517). setuptools would leave build/ and an egg-info folder among the sources, and
pip would have to fetch it first. The package is pure Python, so its wheel is a few files in an archive.
"""

import base64
import hashlib
import pathlib
import shutil
import tomllib
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
PACKAGE = "spate_ring"

# Python has just cached this file's code beside it. pip must leave the sources as they were.
shutil.rmtree(HERE / "__pycache__", ignore_errors=True)


class UnsupportedOperation(Exception):
    """What PEP 517 calls a hook that is not offered."""


def _metadata(project):
    """The file METADATA, from the table [project] of pyproject.toml."""
    lines = ["Metadata-Version: 2.1", f"Name: {project['name']}", f"Version: {project['version']}",
             f"Summary: {project['description']}", f"License: {project['license']['text']}",
             f"Requires-Python: {project['requires-python']}"]
    return "\n".join(lines + [f"Requires-Dist: {other}" for other in project["dependencies"]]) + "\n"


def _record(files, record):
    """The file RECORD: each file with its hash and its size."""
    rows = []
    for name, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        rows.append(f"{name},sha256={digest},{len(data)}\n")
    return "".join(rows) + f"{record},,\n"


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """Writes the wheel into this folder. Returns its name."""
    project = tomllib.loads((HERE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    information = f"{PACKAGE}-{project['version']}.dist-info"
    files = {f"{PACKAGE}/{path.name}": path.read_bytes() for path in sorted((HERE / PACKAGE).glob("*.py"))}
    files[f"{information}/METADATA"] = _metadata(project).encode()
    files[f"{information}/WHEEL"] = b"Wheel-Version: 1.0\nGenerator: spate\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    files[f"{information}/RECORD"] = _record(files, f"{information}/RECORD").encode()
    name = f"{PACKAGE}-{project['version']}-py3-none-any.whl"
    with zipfile.ZipFile(pathlib.Path(wheel_directory) / name, "w") as wheel:
        for path, data in files.items():
            # Without today's date, the same sources give the same wheel.
            wheel.writestr(zipfile.ZipInfo(path), data, zipfile.ZIP_DEFLATED)
    return name


def build_sdist(sdist_directory, config_settings=None):
    raise UnsupportedOperation("spate-ring is built from Spate's repository: pip install ./linux/python")
