"""Failure: which errors of a model end in the same way however often they are tried again."""

from __future__ import annotations

import re
from enum import StrEnum


class Failure(StrEnum):
    """Class of an error that a harness reports."""

    CONTEXT_LENGTH = "context length"
    AUTHORIZATION = "authorization"
    QUOTA = "quota"
    INVALID_REQUEST = "invalid request"
    OTHER = "other"
    """Overload, network, server faults: may pass."""

    @property
    def fatal(self) -> bool:
        """Whether another try must fail too, so that it would only cost money."""
        return self is not Failure.OTHER


SIGNS: tuple[tuple[Failure, re.Pattern[str]], ...] = (
    (
        Failure.CONTEXT_LENGTH,
        re.compile(
            r"context[ _-]?(?:length|window|limit|size)|maximum context|prompt is too long|input is too long"
            r"|too many (?:input )?tokens|exceeds? (?:the )?(?:model'?s? )?(?:max\w*|context)|context_full"
            r"|reduce the length of the",
            re.IGNORECASE,
        ),
    ),
    (
        Failure.QUOTA,
        re.compile(
            r"insufficient[_ ](?:quota|credit|balance|funds)|credit balance|billing|payment required"
            r"|\b(?:http|status|error|code|api error)[ :=]{0,2}402\b|exceeded your current quota",
            re.IGNORECASE,
        ),
    ),
    (
        Failure.AUTHORIZATION,
        re.compile(
            r"\b(?:http|status|error|code|api error)[ :=]{0,2}(?:401|403)\b|^(?:401|403)\b|unauthori[sz]ed"
            r"|authentication[_ ](?:error|failed)|(?:invalid|incorrect|wrong|missing)[ _]?(?:x-)?api[ _-]?key"
            r"|permission[_ ](?:denied|error)|forbidden|not logged in|please run /login",
            re.IGNORECASE,
        ),
    ),
    (
        Failure.INVALID_REQUEST,
        re.compile(
            r"\b(?:http|status|error|code|api error)[ :=]{0,2}(?:400|404|405|413|415|422)\b"
            r"|^(?:400|404|422)\b|invalid_request|bad request|not_found_error|model[ _]not[ _]found"
            r"|unsupported (?:parameter|value)|unprocessable",
            re.IGNORECASE,
        ),
    ),
)


def failure_of(*texts: str | None) -> Failure:
    """The class of what a harness reports as its error and stop reason, in whatever words it does."""
    joined = "\n".join(text for text in texts if text)
    return next((failure for failure, sign in SIGNS if sign.search(joined)), Failure.OTHER)
