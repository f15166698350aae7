"""`python -m debugger_ui` is the same as the command `forkpoint`."""

import sys

from debugger_ui.keeper import main

if __name__ == "__main__":
    sys.exit(main())
