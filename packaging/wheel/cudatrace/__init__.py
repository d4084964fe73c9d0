# SPDX-License-Identifier: LGPL-2.1-or-later
"""cudatrace is a command: "cudatrace", or "python -m cudatrace".  See cudatrace --help."""
