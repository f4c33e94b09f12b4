"""Stops that somebody asks for by Ctrl-C, TERM or USR1."""

import fcntl
import signal
import subprocess
import time


class Stop:
    """Whether somebody has asked for a stop, and the program that must know. The program gets USR1, whatever signal
    came here: mpirun and srun pass USR1 on to the ranks, and `ut train` handles it from its start on."""

    signals = (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1)
    asked, program = False, None

    @classmethod
    def ask(cls, *_):
        cls.asked = True
        if cls.program is not None:
            cls.program.send_signal(signal.SIGUSR1)

    @classmethod
    def run(cls, command, errors):
        """Runs a program. Returns its exit code, negative for a signal, and what it printed."""
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True,
                              errors="replace") as cls.program:
            if cls.asked:  # while the program was being started
                cls.ask()
            while True:
                try:
                    printed, _ = cls.program.communicate(timeout=1)
                    return cls.program.returncode, printed
                except subprocess.TimeoutExpired:
                    pass  # Python calls ask() here for a signal that came during a read or just before it


def lock(path):
    """Opens and locks the file: no other job has it until it is closed. Returns without the lock if somebody has asked
    for a stop."""
    file = open(path, "w")
    while not Stop.asked:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            break
        except BlockingIOError:
            time.sleep(0.5)
    return file
