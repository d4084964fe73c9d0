# SPDX-License-Identifier: LGPL-2.1-or-later
"""Prints a digest of each executable mapping of a process that has a file, but of cudatrace's own: PID."""
import hashlib
import sys


def main():
    pid = sys.argv[1]
    with open(f"/proc/{pid}/maps", encoding="utf-8") as maps, open(f"/proc/{pid}/mem", "rb") as memory:
        for line in maps:
            words = line.split(maxsplit=5)
            if len(words) < 6 or "x" not in words[1] or not words[5].startswith("/") or "cudatrace" in words[5]:
                continue
            begin, end = (int(word, 16) for word in words[0].split("-"))
            memory.seek(begin)
            print(words[0], words[1], words[5].strip(), hashlib.sha256(memory.read(end - begin)).hexdigest())


main()
