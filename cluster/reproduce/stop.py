"""Stops that somebody asks for, by Ctrl-C, TERM or USR1."""

import fcntl
import signal
import subprocess
import time


class Stop:
    """Whether somebody has asked for a stop, and the program that is to know. It is told by USR1, whatever came here:
    that is what mpirun and srun hand to the ranks, and what `ut train` takes from its start on."""

    signals = (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1)
    asked, program = False, None

    @classmethod
    def ask(cls, *_):
        cls.asked = True
        if cls.program is not None:
            cls.program.send_signal(signal.SIGUSR1)

    @classmethod
    def run(cls, command, errors):
        """The program's exit code, negative for a signal, and what it printed."""
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True) as cls.program:
            if cls.asked:  # while it was started
                cls.ask()
            while True:
                try:
                    printed, _ = cls.program.communicate(timeout=1)
                    return cls.program.returncode, printed
                except subprocess.TimeoutExpired:
                    pass  # Python calls ask() here for a signal that came amid a read or just before one


def lock(path):
    """The file, open, which no other job has until it is closed; or somebody has asked for a stop."""
    file = open(path, "w")
    while not Stop.asked:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            break
        except BlockingIOError:
            time.sleep(0.5)
    return file
