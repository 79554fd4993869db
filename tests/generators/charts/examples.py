"""Example points and series."""

from __future__ import annotations

from generators.charts import ParetoPoint, RadarSeries


def point(
    label: str = "model-a",
    cost: float | None = 1.0,
    score: float | None = 60.0,
    *,
    basis: str = "metered",
    harness: str = "pi",
    scored: int = 5,
    on_basis: bool = False,
    on_combined: bool = False,
    membership: float | None = None,
    hosting: str = "cloud",
    note: str = "",
    href: str | None = None,
) -> ParetoPoint:
    """A point with usual values."""
    return ParetoPoint(
        label=label,
        href=f"cells/{label}/" if href is None else href,
        cost_usd=cost,
        score=score,
        basis=basis,
        hosting=hosting,
        harness=harness,
        n_scored=scored,
        n_planned=5,
        on_basis_frontier=on_basis,
        on_combined_frontier=on_combined,
        membership=membership,
        note=note,
    )


def fleet() -> list[ParetoPoint]:
    """Seven cells of two bases, crowded in the middle, one incomplete, one without a cost."""
    self_hosted = "hardware-derived"
    return [
        point("claude-opus-5", 8.28, 75.72, on_basis=True, on_combined=True, membership=0.97),
        point("claude-sonnet-5", 3.81, 66.52, on_basis=True, on_combined=True, membership=0.8),
        point("claude-haiku-4-5", 0.64, 47.12, on_basis=True, scored=4, membership=0.55),
        point(
            "glm-5.2", 5.98, 70.76, basis=self_hosted, on_basis=True, on_combined=True, hosting="self-hosted"
        ),
        point("deepseek-v3.2", 1.71, 54.44, basis=self_hosted, on_basis=True, hosting="self-hosted"),
        point("devstral-2-123b", 0.75, 47.6, basis=self_hosted, hosting="self-hosted"),
        point("kiro-auto", None, 55.0, basis="credits", hosting="vendor-managed"),
    ]


def profile(label: str = "model-a", *values: float | None, scored: int = 5) -> RadarSeries:
    """A radar series."""
    return RadarSeries(label, f"cells/{label}/", values, scored, 5)
