# SPDX-License-Identifier: LGPL-2.1-or-later
"""Becomes the command that was installed with this package."""
import os
import sys
from importlib.metadata import files


def command():
    """Where pip put it: it depends on --user, --prefix and --target."""
    for file in files("cudatrace") or ():
        if file.name == "cudatrace" and file.parent.name == "bin":
            return os.path.realpath(str(file.locate()))
    # pip install --target does not write it down.
    return os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(__file__))), "bin", "cudatrace")


path = command()
try:
    os.execv(path, ["cudatrace"] + sys.argv[1:])
except OSError as error:
    sys.exit(f"cudatrace: {path}: {error.strerror}; install the package cudatrace again")
