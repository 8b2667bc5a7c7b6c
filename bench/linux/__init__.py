# SPDX-License-Identifier: Apache-2.0
"""The cost of the library, the kernel and other programs on Linux, in instructions. Run by bench/linux.py."""
