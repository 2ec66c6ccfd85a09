"""Makes `python -m offnac` the same as the command `offnac`."""

from offnac.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
