"""BedrockChecks: what can be said before a run of keys, credentials and a model on Amazon Bedrock."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

import httpx

from runner.errors import ConfigurationError, EndpointError
from runner.providers.asking import Asker
from runner.providers.base import ProviderSettings
from runner.providers.bedrock_account import Account, NotTold
from runner.providers.bedrock_models import area_for, area_of, base_model
from runner.providers.bedrock_token import ends_at, region_in
from runner.providers.checks import CREDENTIALS, ENDPOINT, SERVED_MODEL, Check, CheckState

PROFILE_NEEDED = "INFERENCE_PROFILE"
ON_DEMAND = "ON_DEMAND"


def bearer_check(bearer: str, region: str, settings: ProviderSettings, now: datetime) -> Check:
    """Whether a key that was given holds in ``region`` and until the end of an invocation that begins now."""
    of_region, end = region_in(bearer), ends_at(bearer)
    if of_region is not None and of_region != region:
        found = f"the key for Bedrock is for {of_region}, this run asks in {region}"
        fix = f"--aws-region {of_region}, or make a key for {region}"
        return Check(CREDENTIALS, CheckState.FAIL, found, fix)
    if end is None:
        return Check(CREDENTIALS, CheckState.PASS, "a key for Bedrock that does not tell its end")
    longest = timedelta(seconds=settings.longest_seconds or 0.0)
    if end <= now + longest:
        left, needed = max((end - now).total_seconds(), 0.0) / 60, longest.total_seconds() / 60
        found = f"the key for Bedrock ends in {left:.0f} minutes, an invocation may take {needed:.0f}"
        return Check(
            CREDENTIALS,
            CheckState.FAIL,
            found,
            "unset it and sign in with aws sso login, so that keys are made anew as they end; or make a new "
            "key, or lower --timeout-seconds",
        )
    found = f"a key for Bedrock that ends at {end:%Y-%m-%d %H:%M} UTC; trials that begin near it will fail"
    return Check(CREDENTIALS, CheckState.WARN, found, "with AWS credentials instead, keys are made anew")


def reach_check(address: str, transport: httpx.BaseTransport | None) -> Check:
    """Whether anybody answers where models are run, whatever the answer is; no key is shown."""
    try:
        with Asker(transport=transport) as asker:
            asker.get(address)
    except EndpointError as error:
        fix = "look at the network and the region, or name a private link with --endpoint"
        return Check(ENDPOINT, CheckState.FAIL, f"{address}: {error.what}", fix)
    return Check(ENDPOINT, CheckState.PASS, f"{address} answers")


def require_invocable(account: Account, model: str) -> None:
    """Check that ``model`` can be invoked by the id it was given.

    Raises:
        ConfigurationError: the region has no such model, or it is only reached through a profile.
        NotTold: the account does not say.
    """
    if model.startswith("arn:") or area_of(model) is not None:
        return
    types = account.inference_types(model)
    if PROFILE_NEEDED in types and ON_DEMAND not in types:
        raise ConfigurationError(
            f"{model} is only reached through an inference profile in {account.region}",
            remedy=f"--model {best_profile(account, model)}",
        )


def best_profile(account: Account, model: str) -> str:
    """The profile nearest to the account's region; the usual name of it where the account does not say."""
    near = f"{area_for(account.region)}.{model}"
    try:
        found = account.profiles(model)
    except NotTold:
        return near
    ranked = sorted(found, key=lambda each: (each != near, area_of(each) == "global", each))
    return ranked[0] if ranked else near


def model_checks(account: Account, model: str) -> Iterator[Check]:
    """Whether the id can be invoked here, and whether the account may use the model."""
    if model.startswith("arn:"):
        yield Check(SERVED_MODEL, CheckState.WARN, "an ARN: what it leads to is not asked")
        return
    try:
        require_invocable(account, model)
        if area_of(model) is not None:
            known = account.profiles(base_model(model))
            if model not in known:
                found = f"there is no inference profile {model} in {account.region}"
                fix = (
                    f"--model {known[0]}"
                    if known
                    else "check the id, or name another region with --aws-region"
                )
                yield Check(SERVED_MODEL, CheckState.FAIL, found, fix)
                return
        lacking = account.access(base_model(model))
    except ConfigurationError as error:
        yield Check(SERVED_MODEL, CheckState.FAIL, error.what, error.remedy)
        return
    except NotTold as error:
        found = f"the account does not tell about models: {error}"
        fix = "allow bedrock:GetFoundationModel, ListInferenceProfiles and GetFoundationModelAvailability"
        yield Check(SERVED_MODEL, CheckState.WARN, found, fix)
        return
    if lacking:
        found = ", ".join(f"{name}: {state.lower().replace('_', ' ')}" for name, state in lacking.items())
        fix = (
            "open the model in the console of Bedrock, accept its terms or send the use case, then try again"
        )
        yield Check("model access", CheckState.FAIL, f"{model}: {found}", fix)
    else:
        yield Check(SERVED_MODEL, CheckState.PASS, f"{model} can be invoked in {account.region}")


def lasting_check(account: Account) -> Check:
    """Whether the credentials renew themselves during a long run."""
    renews = account.renews()
    if renews is False:
        text = "temporary credentials that do not renew themselves and do not tell their end"
        return Check(
            "credentials last", CheckState.WARN, text, "use a profile, which renews them, for a long run"
        )
    text = "they renew themselves" if renews else "they have no end"
    return Check("credentials last", CheckState.PASS, f"{text}; a key is made of them every five minutes")


def hidden(account: str) -> str:
    """An account's number, of which the end is enough to know it again."""
    return f"...{account[-4:]}"
