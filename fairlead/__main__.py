"""Lets ``python -m fairlead`` be the command line."""

from fairlead.cli.main import main

if __name__ == "__main__":
    main()
