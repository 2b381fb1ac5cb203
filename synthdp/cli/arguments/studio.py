"""``synthdp studio``."""

from synthdp.cli.arguments.parsing import Commands, argument, command, flag, option


def add_studio(commands: Commands) -> None:
    """Add ``synthdp studio``."""
    parser = command(commands, "studio")
    argument(
        parser,
        "file [FILE]",
        "a table, a folder of tables, or a project to go on with; default: choose in the page, from this folder",
    )
    option(
        parser,
        "--project FOLDER",
        "folder that keeps what is said, and never a record; default: FILE.studio",
    )
    option(parser, "--port N", "port on 127.0.0.1; default: 0, which takes a free one", default=0)
    flag(parser, "--no-browser", "print the address, and open no browser")
