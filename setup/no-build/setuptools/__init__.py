# SPDX-License-Identifier: Apache-2.0
"""Stands in for setuptools while setup/install fetches a source archive: see build_meta.py."""
