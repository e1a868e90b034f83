"""``tcsmt`` and ``python -m tcsmt``: from the first import on, a signal to stop is one line."""

from __future__ import annotations

import gc
import io
import signal
import sys

__all__ = ["main"]


class Stopped(BaseException):
    """SIGINT or SIGTERM came; what is open is closed on the way out, solvers are killed."""


def main() -> None:
    """Run the command line; stopped by a signal, exit with 128 and its number."""

    def stop(number: int, frame: object) -> None:
        raise Stopped(number)

    numbers = (signal.SIGINT, signal.SIGTERM)
    for number in numbers:
        if signal.getsignal(number) is not signal.SIG_IGN:  # as nohup and shells ask for
            signal.signal(number, stop)
    _encode()
    # graphs are made of millions of terms, none of which is in a circle: looking for circles among them takes
    # up to a third of a command's time
    gc.set_threshold(100_000, 20, 20)
    try:
        from tcsmt.interface.cli import main as command_line
        from tcsmt.interface.cli.running import run

        code = run(command_line)
    except Stopped as stopped:
        for number in numbers:
            signal.signal(number, signal.SIG_DFL)
        files = sys.modules.get("tcsmt.support.files")  # not there before anything could be written
        kept = files.kept_files() if files is not None else ""
        print(f"tcsmt: interrupted; {f'kept: {kept}' if kept else 'nothing was written'}", file=sys.stderr)
        code = 128 + stopped.args[0]
    sys.exit(code)


def _encode() -> None:
    """Files and pipes get UTF-8, as our files are, whatever the locale; a terminal, what it can show."""
    for stream, otherwise in ((sys.stdout, "replace"), (sys.stderr, "backslashreplace")):
        if not isinstance(stream, io.TextIOWrapper):
            continue
        if stream.isatty():
            stream.reconfigure(errors=otherwise)
        else:
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")  # names of files may be no text


if __name__ == "__main__":
    main()
