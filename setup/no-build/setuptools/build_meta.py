# SPDX-License-Identifier: Apache-2.0
"""A PEP 517 build back end that builds nothing.

pip hands over a source archive only after it has asked the back end for metadata, and setuptools answers by executing
the archive's setup.py. This one answers with the PKG-INFO that the archive brings, so nothing of it is executed.
"""

import email
import pathlib
import sys


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    info = pathlib.Path("PKG-INFO").read_bytes()
    fields = email.message_from_bytes(info)
    folder = f"{fields['Name'].replace('-', '_')}-{fields['Version']}.dist-info"
    (pathlib.Path(metadata_directory) / folder).mkdir()
    (pathlib.Path(metadata_directory) / folder / "METADATA").write_bytes(info)
    return folder


__legacy__ = sys.modules[__name__]  # what pip asks for where an archive has no pyproject.toml
