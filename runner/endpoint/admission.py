"""Admission: what one answer says of whether an endpoint can be asked, before anything is measured."""

from __future__ import annotations

import re
from enum import StrEnum

from runner.endpoint.result import Outcome, Phase, StreamResult


class Admission(StrEnum):
    """What an answer says."""

    ACCEPTED = "accepted"
    REFUSED = "refused"
    """The request as it is: by its parameters, as far as can be told."""
    KEY = "key"
    """The key is missing, wrong, or may not do this."""
    CREDIT = "credit"
    """Nothing is left to pay with."""
    MODEL = "model"
    """There is no such model, or not for this key."""
    ADDRESS = "address"
    """Something answers that is no such API."""
    UNREACHABLE = "unreachable"
    """Nobody answers."""
    UNDECIDED = "undecided"
    """A passing trouble: no fault of what is sent, and for the run itself to count."""


KEPT_OUT = frozenset(
    {
        Admission.KEY,
        Admission.CREDIT,
        Admission.MODEL,
        Admission.ADDRESS,
        Admission.UNREACHABLE,
        Admission.REFUSED,
    }
)
_ANSWERED = frozenset({Outcome.OK, Outcome.LENGTH, Outcome.REFUSED, Outcome.INCOMPLETE})
_NOBODY = frozenset({Outcome.CONNECT_ERROR, Outcome.TIMEOUT_CONNECT})
_REFUSING = frozenset({400, 413, 415, 422, 501})
_CODES = re.compile(
    r"\b(400|422|invalid_request(_error)?|bad_?request(_?error)?|unsupported_(parameter|value)|"
    r"invalid_parameter(_error)?)\b",
    re.IGNORECASE,
)
_KEY = re.compile(r"(api[ _-]?key|credential|authenticat)", re.IGNORECASE)
_CREDIT = re.compile(
    r"(insufficient[ _](quota|credit|balance|fund)|credit balance|out of credit|billing|payment required)",
    re.IGNORECASE,
)
_PASSING = re.compile(
    r"(rate[ _-]?limit|per[ _-]?(minute|second|hour|day)|(retry|try again) (in|after)|retry[ _-]?delay)",
    re.IGNORECASE,
)
"""Of a 429: a pause helps, whatever it says of billing beside that."""
_MODEL = re.compile(
    r"(model[ _]not[ _]found|(unknown|invalid|no such|unsupported)[ _]model|"
    r"\bmodel\b.{0,120}?\b(not found|not exist|doesn't exist|not (a )?valid|not available|unknown|"
    r"not a known|not supported|no access|not have access))",
    re.IGNORECASE | re.DOTALL,
)


def words_of(result: StreamResult) -> str:
    """What was said of a failure, with its code."""
    failure = result.failure
    if failure is None:
        return ""
    said = failure.message.strip()
    return said if failure.code.startswith("http_") and said else f"{failure.code}: {said}".strip(": ")


def admission_of(result: StreamResult, *, names_a_part: bool) -> Admission:
    """What ``result`` says.

    Args:
        names_a_part: whether the failure speaks of a parameter that was sent. Then it is about that, even
            where a model or a key is mentioned beside it.
    """
    status, words = result.http_status, words_of(result)
    if result.outcome in _ANSWERED:
        return Admission.ACCEPTED
    if result.outcome in _NOBODY:
        return Admission.UNREACHABLE
    if status == 402 or (_CREDIT.search(words) and status in {400, 403, 429} and not _passes(result, words)):
        return Admission.CREDIT
    if status == 401 or (status == 403 and not names_a_part):
        return Admission.KEY
    if result.outcome is Outcome.STREAM_ERROR and result.failure is not None:
        in_stream = result.failure.phase is Phase.STREAM and bool(_CODES.search(result.failure.code))
        return Admission.REFUSED if in_stream else Admission.UNDECIDED
    if names_a_part and status in {*_REFUSING, 403, 404}:
        return Admission.REFUSED
    if status in {400, 404, 422} and _MODEL.search(words):
        return Admission.MODEL
    if status == 400 and _KEY.search(words):
        return Admission.KEY
    if status is not None and (status in {404, 405, 410} or 300 <= status < 400):
        return Admission.ADDRESS
    return Admission.REFUSED if status in _REFUSING else Admission.UNDECIDED


def _passes(result: StreamResult, words: str) -> bool:
    """Whether a 429 is a limit of rate, which some servers tell with the words of an empty account."""
    is_code = result.failure is not None and bool(_CREDIT.search(result.failure.code))
    return result.http_status == 429 and not is_code and bool(_PASSING.search(words))
