"""How a learner is known again: by a cookie that this server has signed."""

import hmac
import secrets
from hashlib import sha256


class Tokens:
    """Makes learners' cookies, and knows its own; a made-up one is nobody's.

    Whoever keeps the *secret* goes on with the same learners after a restart.
    """

    def __init__(self, secret: str) -> None:
        self.secret = secret.encode()

    def signature(self, about: str) -> str:
        """Sign a text, so that nobody else can."""
        return hmac.new(self.secret, about.encode(), sha256).hexdigest()[:32]

    def issue(self) -> str:
        """Make a cookie for one more learner."""
        name = secrets.token_hex(8)
        return f"{name}.{self.signature(name)}"

    def learner(self, token: str) -> str:
        """Return the name of a cookie's learner; "" if this server has not made it."""
        name, _, signature = token.partition(".")
        known = self.signature(name)
        return name if hmac.compare_digest(signature.encode(), known.encode()) else ""
