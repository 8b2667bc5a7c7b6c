# SPDX-License-Identifier: Apache-2.0
"""A PEP 517 build back end that builds nothing.

pip hands over a source archive only after it has asked the back end for metadata. setuptools answers by executing the archive's
setup.py. This back end answers with the PKG-INFO in the archive, so nothing of the archive is executed.
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


__legacy__ = sys.modules[__name__]  # pip uses this name if an archive has no pyproject.toml
