# SPDX-License-Identifier: Apache-2.0
"""The lab: the library on virtual drives, beside what others measured on real ones. Run by bench/lab.py."""
