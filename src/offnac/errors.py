"""The one exception whose message is meant for the person at the keyboard."""


class UserError(Exception):
    """Bad input: one plain sentence that says what was expected, what came and what to do."""
