# SPDX-License-Identifier: Apache-2.0
"""The lab: the library on virtual drives, compared with published measurements of real ones. Run by bench/lab.py."""
