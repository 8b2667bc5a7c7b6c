# SPDX-License-Identifier: Apache-2.0
"""Keeps results between runs, as JSON lines. A result is valid as long as the files that it depends on do not change."""

import hashlib
import json
import pathlib
import threading


class Kept:
    def __init__(self, path: pathlib.Path):
        self.lock = threading.Lock()
        self.answers = {}
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists():
            for line in path.read_text().splitlines():
                try:
                    key, answer = json.loads(line)
                except ValueError:
                    continue  # the line was not written completely
                self.answers[key] = answer
        self.file = open(path, "a", buffering=1)  # as long as the command runs

    def get(self, *parts: str):
        return self.answers.get(self._key(parts))

    def put(self, answer, *parts: str) -> None:
        key = self._key(parts)
        with self.lock:
            self.answers[key] = answer
            self.file.write(json.dumps([key, answer]) + "\n")

    @staticmethod
    def _key(parts) -> str:
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()
