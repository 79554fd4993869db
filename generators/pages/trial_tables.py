"""Trial tables: invocations, tokens, costs, checks and warnings of one trial."""

from __future__ import annotations

from collections.abc import Sequence

from generators.pages import links, words
from generators.pages.dated_text import as_recorded, found_entry
from generators.pages.dollar_entries import cost_entry
from generators.pages.table import Column, Entry, Table, count_entry, link_entry, number_entry, table
from generators.pages.trial_artifacts import ShownArtifact
from generators.tables.facts import TrialFacts
from generators.tables.sample import Unit
from runner.records import CacheSemantics, CheckRecord, TrialRecord, Usage

Check = CheckRecord
TOKEN_CLASSES = (
    ("Input", "input_tokens"),
    ("Output", "output_tokens"),
    ("Cache read", "cache_read_tokens"),
    ("Cache write", "cache_write_tokens"),
    ("Reasoning, part of output", "reasoning_tokens"),
)
SERVER_COUNTS = {
    "requests_finished": "Requests finished",
    "prompt_tokens": "Prompt tokens",
    "cached_prompt_tokens": "Cached prompt tokens",
    "uncached_prompt_tokens": "Uncached prompt tokens",
    "generation_tokens": "Generated tokens",
    "preemptions": "Preemptions",
}
RULES = {
    CacheSemantics.DISJOINT: "input + output + cache read + cache write",
    CacheSemantics.PARTITION: "input + output; cache counts are part of input",
    CacheSemantics.UNKNOWN: "how cache counts relate to input is unknown",
}


def invocation_table(record: TrialRecord) -> Table | None:
    """One row for each start of the harness; None where none is recorded."""
    if not record.invocations:
        return None
    columns = [Column("Invocation"), Column("Stopped because", wide=True), Column("Seconds", "number")]
    columns += [Column("Exit code", "number"), Column("Turns", "number"), Column("Retries", "number")]
    columns.append(Column("Requests", "number", "model requests that passed our gateway"))
    columns += [Column(title, "number") for title, _ in TOKEN_CLASSES[:4]]
    columns.append(Column("Configuration", explanation="SHA-256 of what was written for this start"))
    columns.append(Column("Event stream", explanation="SHA-256 of the raw event stream, kept outside git"))
    rows = []
    for each in record.invocations:
        code = each.exit_code
        rows.append(
            [
                Entry(f"{each.number}, {each.kind.value}", note=words.moment(each.started_at)),
                Entry(each.stop_reason, note=each.error or ""),
                Entry(f"{each.duration_seconds:,.1f}", each.duration_seconds),
                Entry("ended by a signal", unknown=True) if code is None else Entry(str(code), float(code)),
                count_entry(each.turns),
                count_entry(each.retries),
                count_entry(each.requests_seen, "not counted"),
                *(count_entry(_count(each.usage, name)) for _, name in TOKEN_CLASSES[:4]),
                _digest(each.configuration_sha256),
                _digest(each.stream_sha256),
            ]
        )
    return table("Invocations of this trial", columns, rows, sortable=False)


def usage_table(trial: TrialFacts) -> Table | None:
    """Tokens of the whole trial by class, with the place each count was read from; None without usage."""
    usage = trial.record.usage
    if usage is None:
        return None
    rows = [
        [Entry(title), count_entry(_count(usage, name)), Entry(usage.sources.get(name, "not stated"))]
        for title, name in TOKEN_CLASSES
    ]
    rows.append(
        [
            Entry("Processed"),
            number_entry(None if trial.tokens is None else float(trial.tokens), Unit.TOKENS, "not known"),
            Entry(RULES[usage.cache_semantics]),
        ]
    )
    columns = [Column("Class"), Column("Tokens", "number"), Column("Where the count comes from", wide=True)]
    return table("Tokens of this trial", columns, rows, sortable=False)


def model_usage_table(record: TrialRecord) -> Table | None:
    """Tokens by model id as the harness tells, over all invocations; None where it does not tell."""
    rows = [
        [
            Entry(model, code=True),
            Entry(str(each.number), float(each.number)),
            *(count_entry(_count(usage, name)) for _, name in TOKEN_CLASSES),
        ]
        for each in record.invocations
        for model, usage in each.usage_by_model.items()
    ]
    if not rows:
        return None
    columns = [Column("Raw model id"), Column("Invocation", "number")]
    columns += [Column(title, "number") for title, _ in TOKEN_CLASSES]
    return table("Tokens by model, subagents included", columns, rows, sortable=False)


def server_table(record: TrialRecord) -> Table | None:
    """What the model's server counted during each invocation, over all its clients; None where not asked."""
    rows = []
    for each in record.invocations:
        window = each.server_window
        if window is None:
            continue
        rows.append(
            [
                Entry(str(each.number), float(each.number)),
                Entry("shared", note=window.shared_because or "")
                if window.shared
                else Entry("this invocation's own", note="every request the server finished is its own"),
                count_entry(window.agents_at_once),
                *(count_entry(getattr(window, name)) for name in SERVER_COUNTS),
                _known(window.cached_prompt_share, ".1%"),
                _known(window.prefix_cache_hit_share, ".1%"),
                _known(window.generation_tokens_per_second, ".1f"),
            ]
        )
    if not rows:
        return None
    columns = [Column("Invocation", "number"), Column("Whose", wide=True), Column("Agents at once", "number")]
    columns += [Column(title, "number") for title in SERVER_COUNTS.values()]
    columns.append(Column("Cached of prompt tokens", "number"))
    columns.append(Column("Prefix-cache hits of queries", "number"))
    columns.append(Column("Generated tokens per second", "number", "over the whole window, waiting included"))
    return table("What the model's server counted meanwhile", columns, rows, sortable=False)


def _known(amount: float | None, form: str) -> Entry:
    return Entry("not known", None, unknown=True) if amount is None else Entry(format(amount, form), amount)


def cost_table(trial: TrialFacts) -> Table:
    """Every way to know what it cost, the one that tables and charts use first."""
    costs = trial.costs.all
    rows = [
        [
            Entry(words.basis(cost.basis), note="used in tables and charts" if cost is trial.cost else ""),
            cost_entry(cost),
            Entry(cost.source),
        ]
        for cost in costs
    ]
    return table(
        "Costs of this trial",
        [Column("Basis"), Column("Cost", "number"), Column("Source", wide=True)],
        rows,
        sortable=False,
        marked=[cost is trial.cost for cost in costs],
    )


def checks_of(trial: TrialFacts) -> list[Check]:
    """Every run of every check in the order in which they ran."""
    return sorted(trial.stored.checks, key=lambda check: (check.started_at, check.name, check.number))


def check_table(checks: Sequence[Check]) -> Table:
    """One row for each run of a check."""
    columns = [Column("Check"), Column("Status"), Column("Seconds", "number"), Column("Limit", "number")]
    columns += [Column("Exit code", "number"), Column("Command", wide=True)]
    rows = []
    for check in checks:
        limit, code = check.timeout_seconds, check.exit_code
        rows.append(
            [
                Entry(check.name, note=f"run {check.number}" if check.number > 1 else ""),
                Entry(words.check_status(check.status), note=check.reason or ""),
                Entry(f"{check.duration_seconds:,.1f}", check.duration_seconds),
                Entry("none", unknown=True) if limit is None else Entry(f"{limit:,.0f}", limit),
                Entry("none", unknown=True) if code is None else Entry(str(code), float(code)),
                Entry(" ".join(check.command), code=True)
                if check.command
                else Entry("done by Harnessmark itself", unknown=True),
            ]
        )
    return table("Checks of this trial", columns, rows, sortable=False)


def artifact_table(artifacts: Sequence[ShownArtifact]) -> Table:
    """One row for each artifact that the skill asks for, with the file as it is."""
    rows = []
    for each in artifacts:
        size, digest = each.record.size_bytes, each.record.sha256
        download = (
            Entry(f"{each.name}.txt", href=each.href)
            if each.href
            else Entry("none", note=each.remark, unknown=True)
        )
        rows.append(
            [
                Entry(each.name),
                Entry(words.artifact_state(each.record.state)),
                count_entry(size, "not known"),
                Entry(digest, code=True) if digest else Entry("not recorded", unknown=True),
                download,
            ]
        )
    columns = [Column("Artifact"), Column("State"), Column("Bytes", "number"), Column("SHA-256", wide=True)]
    return table("Artifacts of this trial", [*columns, Column("Download")], rows, sortable=False)


def warning_rows(trial: TrialFacts, page: str) -> Table | None:
    """Every data-quality warning of the trial; None when there is none."""
    rows = [
        [
            link_entry(warning.code, links.relative(page, links.QUALITY, warning.code)),
            found_entry(warning.text, as_recorded(trial)),
        ]
        for warning in trial.record.warnings
    ]
    if not rows:
        return None
    columns = [Column("Warning"), Column("What was found", wide=True)]
    return table("Data-quality warnings of this trial", columns, rows, sortable=False)


def _count(usage: Usage | None, name: str) -> int | None:
    value: int | None = getattr(usage, name) if usage is not None else None
    return value


def _digest(digest: str | None) -> Entry:
    return Entry(digest[:16], code=True) if digest else Entry("not recorded", unknown=True)
