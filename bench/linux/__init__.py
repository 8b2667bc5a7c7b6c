# SPDX-License-Identifier: Apache-2.0
"""What the library, the kernel and others cost on Linux, in instructions. Run by bench/linux.py."""
