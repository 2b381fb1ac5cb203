"""``python -m synthdp``: the command line."""

from synthdp.cli.main import main

if __name__ == "__main__":
    main()
