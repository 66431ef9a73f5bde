"""The ``disassociate`` command: parse, call, print. One file a command; nothing heavy is imported before it is needed."""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType

import typer

from disassociation import __version__
from disassociation.cli import anonymize, convert, demo, generate
from disassociation.errors import DisassociationError

__all__ = ["app", "main"]

_INTERRUPTED = 130

app = typer.Typer(
    name="disassociate",
    help="Publish set-valued personal data: every term kept, rare combinations hidden, the guarantee checked.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
anonymize.register(app)
convert.register(app)
generate.register(app)
demo.register(app)


def _show_version(value: bool) -> None:
    if value:
        typer.echo(f"disassociate {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: bool = typer.Option(False, "--version", callback=_show_version, is_eager=True, help="Show the version."),
) -> None:
    pass


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; exits with 0, 1 (the guarantee does not hold) or 2 (wrong usage, unreadable input)."""
    signal.signal(signal.SIGTERM, _stop)
    try:
        result = app(arguments, standalone_mode=False)
        sys.stdout.flush()
    except typer.TyperException as error:
        message = " ".join(getattr(error, "format_message", error.__str__)().split()).rstrip(".")
        if message:
            _fail(f"{message}; see disassociate --help", 2)
        sys.exit(2)  # no command at all: the help has been shown
    except DisassociationError as error:
        _fail(str(error), error.exit_code)
    except (KeyboardInterrupt, typer.Abort):
        _fail("stopped; nothing was written", _INTERRUPTED)
    except MemoryError:
        _fail("not enough memory for this; nothing was written", 2)
    except BrokenPipeError:
        # Whoever read our output has gone; Python would complain once more when it closes it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    sys.exit(result if isinstance(result, int) else 0)


def _fail(message: str, code: int) -> None:
    print(f"disassociate: {message}", file=sys.stderr)
    sys.exit(code)


def _stop(number: int, frame: FrameType | None) -> None:
    """Treat a request to terminate like Ctrl-C, so that temporary files are removed."""
    raise KeyboardInterrupt
