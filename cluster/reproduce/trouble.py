"""What goes wrong: a line for the user, and an exit code."""

BAD_INPUT, STOPPED = 2, 75  # ut's exit codes: bad input; somebody asked it to stop


class Trouble(Exception):
    """A line for the user, and an exit code."""

    def __init__(self, message, code=BAD_INPUT):
        super().__init__(message)
        self.code = code


class NoData(Trouble):
    """The run's data set is not there."""


class Unusable(Trouble):
    """Trouble that keeps every other run from being made or shown, too."""


def no_program(variable, program, error):
    needs = {"UT": "the program ut, as `./quickstart build` makes it",
             "LAUNCH": 'what starts ranks, as "srun --mpi=pmix"'}
    return Unusable(f"{variable}: {program}: {getattr(error, 'strerror', error)}, needs {needs[variable]}")
