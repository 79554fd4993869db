"""What runs cost: tokens processed, prices of tokens and machines, and the one headline rule."""

from runner.costs.bases import (
    Pricing,
    TrialCosts,
    costs_of,
    hardware_cost,
)
from runner.costs.credit_plans import CreditPlan, CreditPlans, load_credit_plans
from runner.costs.hardware import (
    HardwareRate,
    HardwareRates,
    LatencyLimit,
    MissingRate,
    SplitRates,
    blended_rate,
    cheapest_level,
    split_rates,
    wall_clock_cost,
)
from runner.costs.instances import (
    DEFAULT_COMMITMENT,
    Commitment,
    InstancePrice,
    InstancePrices,
    load_instance_prices,
)
from runner.costs.price_book import PriceBook, load_price_book
from runner.costs.price_lookup import PriceAnswer, PriceQuestion
from runner.costs.price_row import PriceRow, RegionClass, RowPrices, ServiceTier
from runner.costs.token_prices import TokenPrices, credits_cost, token_cost
from runner.costs.tokens import classify, tokens_processed

__all__ = [
    "DEFAULT_COMMITMENT",
    "Commitment",
    "CreditPlan",
    "CreditPlans",
    "HardwareRate",
    "HardwareRates",
    "InstancePrice",
    "InstancePrices",
    "LatencyLimit",
    "MissingRate",
    "PriceAnswer",
    "PriceBook",
    "PriceQuestion",
    "PriceRow",
    "Pricing",
    "RegionClass",
    "RowPrices",
    "ServiceTier",
    "SplitRates",
    "TokenPrices",
    "TrialCosts",
    "blended_rate",
    "cheapest_level",
    "classify",
    "costs_of",
    "credits_cost",
    "hardware_cost",
    "load_credit_plans",
    "load_instance_prices",
    "load_price_book",
    "split_rates",
    "token_cost",
    "tokens_processed",
    "wall_clock_cost",
]
