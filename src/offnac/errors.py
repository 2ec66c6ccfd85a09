"""The exceptions that a command answers with a sentence instead of a traceback."""


class UserError(Exception):
    """Bad input: one plain sentence that says what was expected, what came and what to do."""


class Stopped(Exception):
    """Work stopped on request, with everything saved."""
