"""Machine: which serving configuration a sweep is about, and what share of its instance that is."""

from __future__ import annotations

from runner.costs import InstancePrices
from runner.engine.settings import RunSettings
from runner.engine.sweeps.order import SweepOrder
from runner.errors import UsageError
from runner.records import Deployment
from runner.store import model_slug

BUILT_IN = "built-in"


def deployment_of(
    order: SweepOrder,
    served: RunSettings,
    prices: InstancePrices,
    *,
    window: int | None,
    demonstration: bool,
) -> Deployment:
    """The deployment that the record is filed under.

    Args:
        order: what the user asked for.
        served: the settings with what the provider knows of how the model is served.
        prices: knows how many accelerators a machine has.
        window: context window of the model as served.
        demonstration: the built-in server stands in for a machine.

    Raises:
        UsageError: the machine is not named.
    """
    model, size = served.model[0], served.tensor_parallel_size
    instance = served.instance_type or (BUILT_IN if demonstration else None)
    if instance is None:
        raise UsageError(
            "a sweep is about a machine, and none is named",
            remedy="--instance-type, and --instance-share or --tensor-parallel-size for a part of it",
        )
    share, price = order.instance_share, prices.instances.get(instance)
    if share is None and size is not None and price is not None and size <= price.gpus:
        share = size / price.gpus
    return Deployment(
        name=order.deployment or model_slug(model),
        model=model,
        instance_type=instance,
        instance_share=share,
        tensor_parallel_size=size,
        precision=served.precision,
        context_window=window,
    )
