"""When a session is over: the lease has ended, a newer poll came elsewhere, or a state is replayed.

Brokers date heartbeats, so every gateway that reads them comes to the same end. A heartbeat that
comes a lease after the one before it renews nothing, whoever wrote it.
"""

from typing import Final

from fairlead.gateway.client_state import ClientState
from fairlead.gateway.exchange import Exchange
from fairlead.gateway.outputs import SUPERSEDED_ELSEWHERE, Refusal, session_over
from fairlead.gateway.poll_words import Poll
from fairlead.gateway.session_log import SessionWords

__all__ = ["has_read_back", "over_before", "over_meanwhile"]

_NO_POLL: Final = session_over("lease_ended", "No poll came within the lease.")


def over_before(words: SessionWords | None, state: ClientState, poll: Poll) -> Refusal | None:
    """Return why a session is over, as far as is known before anything is written."""
    over = _ended(words)
    if over is not None or words is None or words.heard is None:
        return over
    if words.has_left and not state.saved.leaving and not poll.leaving:
        return session_over("left", "The session was ended by its client.")
    if poll.sequence < words.heard.sequence:
        return session_over("session_elsewhere", "A newer poll has come.")
    return _replayed(words, state)


def over_meanwhile(exchange: Exchange, words: SessionWords | None) -> Refusal | None:
    """Return why a session is over, as far as is known now."""
    kept, append_ms = exchange.kept, exchange.append_ms
    if kept is not None and append_ms is not None:
        silent_ms = append_ms - kept.append_ms
        if silent_ms >= exchange.state.lease_ms:
            return _NO_POLL
    over = _ended(words)
    if over is not None or words is None or words.heard is None:
        return over
    if words.heard.sequence > exchange.poll.sequence:
        return SUPERSEDED_ELSEWHERE
    return _replayed(words, exchange.state)


def _ended(words: SessionWords | None) -> Refusal | None:
    if words is None:
        return None
    if "lapsed" in words.notices:
        return session_over("lease_ended", words.notices["lapsed"].message)
    return _NO_POLL if words.heard is not None and words.heard.is_broken else None


def _replayed(words: SessionWords, state: ClientState) -> Refusal | None:
    if words.heard is None or state.issued >= words.heard.issued:
        return None
    return session_over("state_replayed", "The state is older than one that was used already.")


def has_read_back(exchange: Exchange, words: SessionWords | None) -> bool:
    """Tell whether everything that was in the log before its heartbeat has been read.

    A gateway that has kept the session waits for that as well. Another one may have gone on with
    the session since, and the client may echo the older of two states against the rules: its answer
    would make the old state the newest one.
    """
    if exchange.heartbeat is None:
        return True
    heard = None if words is None else words.heard
    return heard is not None and exchange.at is not None and heard.at >= exchange.at
