"""Runs a program on a pseudo-terminal: COLUMNS ROWS PROGRAM [ARGUMENT...].

What the program writes goes to stdout. Orders come from stdin, one JSON list a line: ["keys", text],
["size", columns, rows], ["signal", number]. The end of stdin hangs up. Exits with the code of the program.
"""

import fcntl
import json
import os
import pty
import select
import struct
import sys
import termios

IPC = 3


def resize(terminal: int, columns: int, rows: int) -> None:
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


def write_all(file: int, data: bytes) -> None:
    while data:
        data = data[os.write(file, data) :]


def obey(order: list, terminal: int, child: int) -> None:
    if order[0] == "keys":
        write_all(terminal, order[1].encode())
    elif order[0] == "size":
        resize(terminal, order[1], order[2])
    else:
        os.kill(child, order[1])


def serve(terminal: int, child: int) -> None:
    """Passes on what the program writes and what it is told, until it has ended or stdin has."""
    unread = b""
    while True:
        ready, _, _ = select.select([terminal, 0], [], [])
        if terminal in ready:
            try:
                data = os.read(terminal, 65536)
            except OSError:  # Linux answers EIO once nobody has the other side open.
                return
            if not data:
                return
            write_all(1, data)
        if 0 in ready:
            told = os.read(0, 65536)
            if not told:
                return
            *lines, unread = (unread + told).split(b"\n")
            for line in lines:
                obey(json.loads(line), terminal, child)


def main() -> int:
    columns, rows, *command = sys.argv[1:]
    child, terminal = pty.fork()
    if child == 0:
        resize(0, int(columns), int(rows))
        os.execvp(command[0], command)
    try:
        os.close(IPC)  # The channel between the test and the program, if there is one, is theirs alone.
    except OSError:
        pass
    serve(terminal, child)
    os.close(terminal)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return code if code >= 0 else 128 - code


sys.exit(main())
