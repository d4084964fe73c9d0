# SPDX-License-Identifier: LGPL-2.1-or-later
"""top_keys.py COMMAND [DIR]: cudatrace top [DIR] on a terminal, with keys; prints what they did."""
import os
import pty
import select
import sys
import termios
import time

command, *trace = sys.argv[1:]
pid, terminal = pty.fork()
if not pid:
    os.execv(command, [command, "top", "--delay", "0.2", *trace])
before = termios.tcgetattr(terminal)
said = []


def read(seconds, until=None):
    """What comes in this time, or until a text has come."""
    text, end = "", time.monotonic() + seconds
    while time.monotonic() < end and not (until and until in text):
        if select.select([terminal], [], [], 0.05)[0]:
            try:
                text += os.read(terminal, 65536).decode(errors="replace")
            except OSError:
                break
    return text


def check(word, good):
    said.append(word if good else f"NOT {word}")


assert "cudatrace top" in read(20, "calls/s")
os.write(terminal, b"s")
check("sorted", "by calls" in read(20, "by calls"))
os.write(terminal, b" ")
check("frozen", "frozen" in read(20, "frozen"))
read(0.3)
check("still", read(1.0) == "")
os.write(terminal, b" ")
check("went on", "calls/s" in read(20, "calls/s"))
os.write(terminal, b"q")
read(20, "\0")
check("ended", os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0)
after = termios.tcgetattr(terminal)
check("restored", after[3] == before[3])
print(" ".join(said))
