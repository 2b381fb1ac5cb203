"""``synthdp studio``."""

from synthdp.cli.arguments.parsing import Commands, command, flag, whole_number


def add_studio(commands: Commands) -> None:
    """Add ``synthdp studio``."""
    parser = command(
        commands, "studio", "open a local page that leads from a table to a publication"
    )
    parser.add_argument(
        "file",
        nargs="?",
        metavar="FILE",
        help="a table, a folder of tables, or a project to go on with; default: choose in the page, from this folder",
    )
    parser.add_argument(
        "--project",
        metavar="FOLDER",
        help="folder that keeps what is said, and never a record; default: FILE.studio",
    )
    parser.add_argument(
        "--port",
        type=whole_number,
        default=0,
        metavar="N",
        help="port on 127.0.0.1; default: 0, which takes a free one",
    )
    flag(parser, "--no-browser", "print the address, and open no browser")
