# SPDX-License-Identifier: Apache-2.0
"""The data of the synthetic sensor (firmware/common/pattern.h), computed independently of the firmware. Needs only Python's
standard library, because make demo installs no other."""

import array
import hashlib
import sys

FACTOR = 0x9E3779B97F4A7C15
STEP_WORDS = 1 << 16
LANE_BITS = 128  # one word of 64 bits, with room for a product
LOW_WORD = (1 << 64) - 1


def every_lane(word: int) -> int:
    """A number with `word` in each of STEP_WORDS lanes."""
    return int.from_bytes(word.to_bytes(LANE_BITS // 8, "little") * STEP_WORDS, "little")


def sha256(clip: int, length_bytes: int) -> str:
    """The digest of the first bytes of a clip. Word i of it is w ^ w >> 29, where w is (clip << 40 | i) * FACTOR modulo 2^64. The
    words of a step are lanes of one large number, so that Python computes all of them at once."""
    digest = hashlib.sha256()
    index = int.from_bytes(b"".join(i.to_bytes(LANE_BITS // 8, "little") for i in range(STEP_WORDS)), "little")
    ones, low, low_shifted = every_lane(1), every_lane(LOW_WORD), every_lane(LOW_WORD >> 29)
    first_word, left_bytes = 0, length_bytes
    while left_bytes > 0:
        products = (index + ones * (clip << 40 | first_word)) * FACTOR & low
        mixed = products ^ (products >> 29 & low_shifted)
        words = array.array("Q", mixed.to_bytes(LANE_BITS // 8 * STEP_WORDS, "little"))[::2]
        if sys.byteorder == "big":
            words.byteswap()
        piece = words.tobytes()[:left_bytes]
        digest.update(piece)
        left_bytes -= len(piece)
        first_word += STEP_WORDS
    return digest.hexdigest()
