"""The process that keeps a solver's library loaded: ``python forking.py CHANNEL LIBRARY``.

It imports the library once, and forks for each request: a question does not wait, a tenth of a second each
time, for Python and the library to start. A fork runs the same program as a process that is started anew. It
has limits of its own, and what it does to itself harms no later one. CHANNEL is the descriptor of a socket.
A request is the program's path and arguments as JSON, with the files for its standard input and output; or
the number of a fork that has ended, or was killed. The reply is
a list: the fork's number; or its exit code, and the seconds of a processor that it has used. This is
run as a file, so that it imports nothing of the package. It ends when the channel is closed.
"""

from __future__ import annotations

import contextlib
import ctypes  # noqa: F401 - as the next three, for the programs: a fork has them
import hashlib  # noqa: F401
import importlib
import itertools  # noqa: F401
import json
import os
import re  # noqa: F401
import resource  # noqa: F401
import runpy
import socket
import sys


def main() -> None:
    """Serve requests; in a fork, run the program, and end as the interpreter does."""
    channel = socket.socket(fileno=int(sys.argv[1]))
    with contextlib.suppress(Exception):  # the program says why it cannot be imported
        importlib.import_module(sys.argv[2])
    while message := socket.recv_fds(channel, 1 << 16, 2):
        line, files = message[:2]
        if not line:
            return
        request = json.loads(line)
        if isinstance(request, int):
            _, status, used = os.wait4(request, 0)
            ended = os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime
            channel.sendall(json.dumps(ended).encode())
            continue
        fork = os.fork()
        with contextlib.suppress(OSError):  # it has ended, or replaced itself, and the other one was first
            os.setpgid(fork, fork)
        if not fork:
            channel.close()
            for descriptor, file in enumerate(files):
                os.dup2(file, descriptor)
                os.close(file)
            sys.argv = request
            runpy.run_path(request[0], run_name="__main__")
            return
        for file in files:
            os.close(file)
        channel.sendall(json.dumps([fork]).encode())


if __name__ == "__main__":
    main()
