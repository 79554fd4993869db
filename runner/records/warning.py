"""DataWarning: something about a record that a reader must know before using its numbers."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import Field

from runner.records.base import Part

CODES: Mapping[str, str] = {
    "agent-price-made-up": "The agent knows no price of this model and made one up: it is not used.",
    "artifact-scored-zero": "All artifacts were produced, yet one of them was scored 0.",
    "artifact-cut": "A file was too long to be shown to the judge whole.",
    "artifacts-disagree-with-scores": "More artifacts carry a score than the source says were produced.",
    "backlog-in-level": "The first token took long although one session ran: older work got into the level.",
    "bucket-bounds": "Percentiles are upper bounds of histogram buckets, not values in between.",
    "cache-counters-not-reported": "Cache counts are 0 beside a hit rate above 0: they are unknown.",
    "context-window-doubtful": "The context window in the source does not fit the model id that was used.",
    "cost-above-tokens": "The cost is higher than the published tokens explain at the source's own prices.",
    "cost-without-tokens": "A cost stands beside no tokens at all.",
    "counter-reset": "The server began to count anew in the level: what it counted just before is missing.",
    "error-but-scored": "The source flags an error, but the task was scored and counts as complete.",
    "failed-without-error": "The source flags the task as failed although the agent ended without an error.",
    "few-requests": "So few requests ended within the level that its quantiles say little.",
    "float-noise": "A number carries binary rounding noise from the source.",
    "generation-rate-implausible": "Output tokens per second lie outside what the model serves elsewhere.",
    "grounding-doubtful": "The judge is said to have read the repository, but its own notes deny it.",
    "headings-missing": "A file lacks headings that the skill's contract asks for.",
    "idle-time-in-window": "Rates were averaged over a window that includes idle time, so they are too low.",
    "instance-not-priced": "The machine is not in the price list, so no dollars can be derived from it.",
    "instance-share-unknown": "How much of the machine was in use cannot be told from the source.",
    "judge-block-of-one-task": "The judge is described once per run, from a task not judged like this.",
    "judge-not-grounded": "The judge could read the repository, but is not seen to have read a file of it.",
    "judged-again": "The published score replaces an earlier one of the same artifacts.",
    "last-turn-counters": "Token counts of this run look like those of the last turn only.",
    "limit-not-enforced": "A limit could not be kept, because prices or token counts were not there.",
    "load-not-as-asked": "Requests had over 25 % more or fewer tokens than the load asked for.",
    "load-sessions-failed": "Sessions of the load ended with an error, so there was less to do than planned.",
    "lost-in-translation": "A proxy between agent and model could not pass on every class of token counts.",
    "low-output-per-turn": "Fewer than 20 output tokens a turn: something was not counted.",
    "metered-at-default-price": "The cost equals the agent's default list price, not a price of this model.",
    "metrics-missing": "The server does not tell this figure, so it is unknown.",
    "mixed-semantics": "Tasks of one run count cached tokens in different ways.",
    "moving-ref": "The task names a branch, so the code it ran on cannot be told.",
    "never-judged": "The source counts the task as failed, but it was never judged: it is unscored.",
    "no-prompt-rate": "The sweep has no prompt throughput, so no price per token can be derived.",
    "notional-price": "The dollars in the source are a list price for a model that was not billed.",
    "older-revision": "A later sweep of the same deployment exists.",
    "older-rate-in-source": "The source priced this sweep at an hourly rate that is not in the price list.",
    "peak-above-concurrency": "More requests ran at once than the level's concurrency allows.",
    "permission-denied": "The agent was refused the use of a tool, although everything was to be allowed.",
    "precision-respelled": "The source spells the precision in another way.",
    "price-differs-between-cells": "The same model was billed at other token prices in other cells.",
    "probe": "A run to try something out: it has no summary in the source.",
    "prompt-tokens-unaccounted": "The server counted over 5 % more prompt tokens than the agent reported.",
    "queue-above-prefill": "Requests waited longer than their prefill took: more came than could be served.",
    "repriced-in-source": "Dollars in the source were rescaled after rounding; they are not used.",
    "scrapes-missing": "The server was not seen for some seconds of the level.",
    "several-invocations": "The agent was started more than once: rates need not follow from the sums.",
    "shorter-contract": "The run was judged on four artifacts; others of the skill are judged on five.",
    "slug-differs": "The source files the model under another short name.",
    "task-retiered": "The complexity of this task was changed after results were known.",
    "tasks-repeated": "Sessions of a level shared a task, which flatters the prefix cache.",
    "tokens-not-reported": "The source prints 0 for every token count: they are unknown.",
    "tokens-repaired": "The source replaced token counts of this task afterwards.",
    "total-counts-cache-twice": "The source's token total fits only if cached tokens are counted twice.",
    "turns-do-not-fit-tokens": "More prompt tokens a turn than the context window holds.",
    "turns-not-reported": "The source prints 0 turns: the number is unknown.",
    "uncached-run": "Almost no prompt token came from the cache, which makes the run expensive.",
    "usage-is-lower-bound": "Answers broke off before their token counts arrived: more was used.",
    "usage-not-reported": "The server sent no token counts with its answers: they are unknown.",
    "zero-cost-is-unknown": "The source prints a cost of 0 for a run that was not free.",
}
"""Every code in use, with one sentence for readers who meet it on a page."""


class DataWarning(Part):
    """A named fault or oddity. The code is stable and explained in ``CODES``; the text has the numbers."""

    code: str = Field(pattern=r"^[a-z][a-z0-9-]*$", max_length=60)
    text: str = Field(min_length=1, max_length=1000)
