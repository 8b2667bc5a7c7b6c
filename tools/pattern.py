# SPDX-License-Identifier: Apache-2.0
"""The data of the synthetic sensor (apps/common/pattern.h), computed independently of the firmware."""

import hashlib

import numpy

STEP_WORDS = 1 << 20


def sha256(clip: int, length_bytes: int) -> str:
    digest = hashlib.sha256()
    factor = numpy.uint64(0x9E3779B97F4A7C15)
    first_word = 0
    left_bytes = length_bytes
    while left_bytes > 0:
        index = numpy.arange(first_word, first_word + STEP_WORDS, dtype=numpy.uint64)
        word = (numpy.uint64(clip << 40) | index) * factor
        word ^= word >> numpy.uint64(29)
        piece = word.astype("<u8").tobytes()[:left_bytes]
        digest.update(piece)
        left_bytes -= len(piece)
        first_word += STEP_WORDS
    return digest.hexdigest()
