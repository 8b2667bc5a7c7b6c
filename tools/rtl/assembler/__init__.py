# SPDX-License-Identifier: Apache-2.0
"""An assembler for the sequencer of spate_admin (tools/rtl/microcode.py)."""
