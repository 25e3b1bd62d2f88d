"""`python -m tercet.cli`, for where the script is not on the path."""

from __future__ import annotations

import sys

from tercet.cli.application import main

if __name__ == "__main__":
    sys.exit(main())
