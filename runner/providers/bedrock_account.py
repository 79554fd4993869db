"""BedrockAccount: what an AWS account says of its credentials and of a model, asked through boto3."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from runner.errors import ConfigurationError

CONNECT_SECONDS, READ_SECONDS = 5, 8
EXPIRED = frozenset({"ExpiredToken", "ExpiredTokenException", "RequestExpired", "TokenRefreshRequired"})
WRONG = frozenset(
    {"InvalidClientTokenId", "UnrecognizedClientException", "SignatureDoesNotMatch", "InvalidAccessKeyId"}
)
DENIED = frozenset({"AccessDenied", "AccessDeniedException", "UnauthorizedOperation"})
MISSING = frozenset({"ResourceNotFoundException", "ValidationException"})
NO_CREDENTIALS = (
    "sign in with `aws sso login`, or run `aws configure`, or export AWS_ACCESS_KEY_ID and "
    "AWS_SECRET_ACCESS_KEY, or export AWS_BEARER_TOKEN_BEDROCK with a key for Bedrock"
)


class NotTold(Exception):
    """The account does not tell: the question is not allowed, or nobody answered."""


@dataclass(frozen=True)
class Identity:
    """Who the credentials belong to."""

    account: str
    name: str
    """Last part of the ARN, without the account."""


@dataclass(frozen=True)
class Account:
    """One set of credentials in one region.

    Args:
        session: of boto3.
        profile: as the user named it, for the commands that put things right.
    """

    session: Any = field(repr=False)
    region: str
    profile: str | None = None

    def frozen(self) -> Any:
        """Credentials that are valid now.

        Raises:
            ConfigurationError: there are none, or they cannot be renewed.
        """
        try:
            with self._explained():
                found = self.session.get_credentials()
                frozen = None if found is None else found.get_frozen_credentials()
        except NotTold as error:
            raise ConfigurationError(
                f"the AWS credentials cannot be renewed: {error}", remedy="look at the network, then resume"
            ) from None
        if frozen is None or not frozen.access_key or not frozen.secret_key:
            raise ConfigurationError("there are no AWS credentials", remedy=self._fix(NO_CREDENTIALS))
        return frozen

    def renews(self) -> bool | None:
        """Whether the credentials renew themselves; None: they have no end, so they need not."""
        found = self.session.get_credentials()
        if hasattr(found, "refresh_needed"):
            return True
        return None if found is None or not found.token else False

    def identity(self) -> Identity:
        """Who the credentials belong to.

        Raises:
            ConfigurationError: they are missing, wrong or expired.
            NotTold: nobody answered.
        """
        self.frozen()
        with self._explained():
            said = self._client("sts").get_caller_identity()
        return Identity(str(said["Account"]), str(said["Arn"]).rpartition(":")[2])

    def inference_types(self, model: str) -> tuple[str, ...]:
        """How ``model`` (without area) can be invoked here: ``ON_DEMAND``, ``INFERENCE_PROFILE``.

        Raises:
            ConfigurationError: credentials are wrong or expired, or the region has no such model.
            NotTold: the question is not allowed, or nobody answered.
        """
        with self._explained(missing=f"{model} is not offered in {self.region}"):
            said = self._client("bedrock").get_foundation_model(modelIdentifier=model)
        return tuple(said["modelDetails"].get("inferenceTypesSupported", ()))

    def profiles(self, model: str) -> tuple[str, ...]:
        """Ids of the inference profiles here that lead to ``model`` (without area).

        Raises:
            ConfigurationError: credentials are wrong or expired.
            NotTold: the question is not allowed, or nobody answered.
        """
        with self._explained():
            pages = self._client("bedrock").get_paginator("list_inference_profiles").paginate()
            found = [each for page in pages for each in page["inferenceProfileSummaries"]]
        return tuple(
            str(each["inferenceProfileId"])
            for each in found
            if any(str(one.get("modelArn", "")).endswith(f"/{model}") for one in each["models"])
        )

    def access(self, model: str) -> Mapping[str, str]:
        """What of ``model`` (without area) is not in order, by what it is: agreement, authorization, region.

        Raises:
            ConfigurationError: credentials are wrong or expired, or the region has no such model.
            NotTold: the question is not allowed, or nobody answered.
        """
        with self._explained(missing=f"{model} is not offered in {self.region}"):
            said = self._client("bedrock").get_foundation_model_availability(modelId=model)
        states = {
            "agreement": said.get("agreementAvailability", {}).get("status", "AVAILABLE"),
            "authorization": said.get("authorizationStatus", "AUTHORIZED"),
            "entitlement": said.get("entitlementAvailability", "AVAILABLE"),
            "region": said.get("regionAvailability", "AVAILABLE"),
        }
        return {
            name: str(state) for name, state in states.items() if state not in {"AVAILABLE", "AUTHORIZED"}
        }

    def _client(self, service: str) -> Any:
        from botocore.config import Config

        return self.session.client(
            service,
            region_name=self.region,
            config=Config(
                connect_timeout=CONNECT_SECONDS,
                read_timeout=READ_SECONDS,
                retries={"total_max_attempts": 2, "mode": "standard"},
            ),
        )

    @contextmanager
    def _explained(self, missing: str = "") -> Iterator[None]:
        """Turn what botocore raises into what a user can do about it."""
        from botocore.exceptions import BotoCoreError, ClientError

        try:
            yield
        except ClientError as error:
            code = str(error.response.get("Error", {}).get("Code", ""))
            if code in EXPIRED:
                raise ConfigurationError("the AWS credentials have expired", remedy=self._renew()) from None
            if code in WRONG:
                raise ConfigurationError(
                    f"AWS does not know these credentials ({code})", remedy=self._fix(NO_CREDENTIALS)
                ) from None
            if code in MISSING and missing:
                raise ConfigurationError(
                    missing, remedy="check the id, or name another region with --aws-region"
                ) from None
            raise NotTold(f"not allowed ({code})" if code in DENIED else f"refused ({code})") from None
        except BotoCoreError as error:
            raise self._unanswered(error) from None

    def _unanswered(self, error: Exception) -> Exception:
        """What an error means that came from no answer: sign-ins that ran out, missing files, no network."""
        kind = type(error).__name__
        if kind in {
            "EndpointConnectionError",
            "ConnectTimeoutError",
            "ReadTimeoutError",
            "ConnectionClosedError",
        }:
            return NotTold(f"nobody answers ({kind})")
        if "SSO" in kind or kind in {"TokenRetrievalError", "LoginRefreshRequired"}:
            return ConfigurationError("the sign-in at AWS has run out", remedy=self._renew())
        if kind == "ProfileNotFound":
            return ConfigurationError(str(error), remedy="aws configure list-profiles shows those there are")
        return ConfigurationError(
            f"there are no usable AWS credentials ({kind})", remedy=self._fix(NO_CREDENTIALS)
        )

    def _renew(self) -> str:
        return self._fix("aws sso login, or get new temporary credentials; then resume")

    def _fix(self, text: str) -> str:
        """``text`` with the user's profile in its commands."""
        if self.profile is None:
            return text
        named = text.replace("aws sso login", f"aws sso login --profile {self.profile}")
        return named.replace("`aws configure`", f"`aws configure --profile {self.profile}`")


SessionMaker = Callable[[str | None, str | None, Mapping[str, str]], Any]
"""From profile, region and environment to a session of boto3."""


def boto_session(profile: str | None, region: str | None, environment: Mapping[str, str]) -> Any:
    """A session of boto3 with the keys of ``environment``, or with what the machine has where it holds none.

    Raises:
        ConfigurationError: there is no such profile, or the user's configuration cannot be read.
    """
    import boto3
    from botocore.exceptions import BotoCoreError

    keys: dict[str, str] = {}
    if profile is None and "AWS_ACCESS_KEY_ID" in environment:
        keys = {
            "aws_access_key_id": environment["AWS_ACCESS_KEY_ID"],
            "aws_secret_access_key": environment.get("AWS_SECRET_ACCESS_KEY", ""),
        }
        if environment.get("AWS_SESSION_TOKEN"):
            keys["aws_session_token"] = environment["AWS_SESSION_TOKEN"]
    try:
        return boto3.Session(profile_name=profile, region_name=region, **keys)
    except BotoCoreError as error:
        raise ConfigurationError(
            f"AWS: {error}", remedy="aws configure list-profiles shows the profiles there are"
        ) from None
