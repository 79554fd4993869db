"""An AWS account for tests: its keys, and a session, a refusal or the checks that come of them."""

from __future__ import annotations

from collections.abc import Mapping

import httpx
import pytest

from runner.errors import ConfigurationError
from runner.providers.base import ModelSession, ProviderSettings
from runner.providers.bedrock import Bedrock
from runner.providers.checks import Check
from tests.providers.control_plane import PLAIN, REGION

KEYS = {"AWS_ACCESS_KEY_ID": "AKIAEXAMPLEEXAMPLE12", "AWS_SECRET_ACCESS_KEY": "secret-of-a-test-0123456789"}
SETTINGS = ProviderSettings(aws_region=REGION, longest_seconds=7200)
Environment = Mapping[str, str]


def opened(
    environment: Environment, model: str = PLAIN, settings: ProviderSettings = SETTINGS
) -> ModelSession:
    with Bedrock().session(model, settings, environment) as session:
        return session


def refusal(
    environment: Environment, model: str = PLAIN, settings: ProviderSettings = SETTINGS
) -> ConfigurationError:
    with pytest.raises(ConfigurationError) as caught:
        opened(environment, model, settings)
    return caught.value


ANSWERS = httpx.MockTransport(lambda _: httpx.Response(403, json={"message": "Missing Authentication Token"}))
"""The service that runs models, as far as it answers somebody who shows no key."""


def checks(
    environment: Environment,
    model: str = PLAIN,
    settings: ProviderSettings = SETTINGS,
    transport: httpx.BaseTransport = ANSWERS,
) -> dict[str, Check]:
    bedrock = Bedrock(transport=transport)
    return {check.name: check for check in bedrock.checks(model, settings, environment)}
