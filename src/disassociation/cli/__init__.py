"""The ``disassociate`` command: parse, call, print. One file a command; nothing heavy is imported until needed."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

import typer
from typer.core import TyperGroup

from disassociation import __version__
from disassociation.cli import _shared as shared
from disassociation.cli import (
    anonymize,
    attack,
    audit,
    convert,
    demo,
    evaluate,
    explain,
    generate,
    itemsets,
    reconstruct,
    risk,
    support,
    warmup,
)
from disassociation.cli._process import prepare_process
from disassociation.errors import DisassociationError

__all__ = ["app", "main"]

_INTERRUPTED = 130
_NOBODY_READS = 141  # what a shell reports of any program whose reader has gone


class _Commands(TyperGroup):
    """Commands whose interruption is reported by us: typer would leave without a word, or with code 1."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            _fail("stopped; no partial output is left", _INTERRUPTED)
        except BrokenPipeError:
            _leave_quietly()


app = typer.Typer(
    name="disassociate",
    cls=_Commands,
    help="Publish set-valued personal data: every term kept, rare combinations hidden, the guarantee checked.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
anonymize.register(app)
audit.register(app)
convert.register(app)
generate.register(app)
demo.register(app)
risk.register(app)
attack.register(app)
evaluate.register(app)
support.register(app)
explain.register(app)
itemsets.register(app)
reconstruct.register(app)
warmup.register(app)


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
    prepare_process(is_ours=arguments is None)
    shared.forget_remarks()
    try:
        result = app(arguments, standalone_mode=False)
        shared.finish()
    except SystemExit as left:
        if left.code == 1:  # how rich leaves when the reader of a help page has gone; our commands return their code
            _leave_quietly()
        raise
    except typer.TyperException as error:
        message = " ".join(getattr(error, "format_message", error.__str__)().split()).rstrip(".")
        if message:
            _fail(f"{message}; see disassociate --help", 2)
        sys.exit(2)  # no command at all: the help has been shown
    except DisassociationError as error:
        _fail(str(error), error.exit_code)
    except (KeyboardInterrupt, typer.Abort):
        _fail("stopped; no partial output is left", _INTERRUPTED)
    except MemoryError:
        _fail("not enough memory for this; nothing was written", 2)
    except BrokenPipeError:
        _leave_quietly()
    except OSError as error:
        where = "" if error.filename is None else f"{os.fsdecode(error.filename)}: "
        _fail(f"{where}{error.strerror or error}; nothing was written, check the paths and the disk", 2)
    except Exception as error:
        # A traceback may show values of the data, which is why it has to be asked for (python -X dev).
        if sys.flags.dev_mode:
            raise
        _fail(f"internal error ({type(error).__name__}, {_place(error)}); nothing was written, please report this", 2)
    sys.exit(result if isinstance(result, int) else 0)


def _fail(message: str, code: int) -> NoReturn:
    """One line, whatever a file is called."""
    print(f"disassociate: {' '.join(message.splitlines())}", file=sys.stderr)
    _let_go_of_output()
    sys.exit(code)


def _leave_quietly() -> NoReturn:
    _let_go_of_output()
    sys.exit(_NOBODY_READS)


def _let_go_of_output() -> None:
    """Drop what nobody takes: Python would complain of it once more when it closes stdout."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _place(error: BaseException) -> str:
    """File and line where something went wrong."""
    step = error.__traceback__
    while step is not None and step.tb_next is not None:
        step = step.tb_next
    return "" if step is None else f"{Path(step.tb_frame.f_code.co_filename).name}:{step.tb_lineno}"


def _stop(number: int, frame: FrameType | None) -> None:
    """Treat a request to terminate like Ctrl-C, so that temporary files are removed."""
    raise KeyboardInterrupt
