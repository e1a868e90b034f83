"""``python -m tcsmt``."""

from tcsmt.cli import main

if __name__ == "__main__":
    main()
