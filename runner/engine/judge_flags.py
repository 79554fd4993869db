"""Judge flags: what each flag of ``invoke judge`` means, for its help."""

from __future__ import annotations

JUDGE_HELP = {
    "path": "a store, or a folder in it such as results/swe/<model>_<provider> (default: every store)",
    "config": "YAML file with the settings of the judge; flags override it",
    "judge": "direct, codex, claude-code, replay, or package.module:Name (default: direct)",
    "model": "the judge's model, as its server lists it",
    "provider": "hosting path of the judge's model (default: endpoint once --endpoint is given, else the "
    "judge's vendor)",
    "endpoint": "base URL of the judge's model, for provider endpoint",
    "protocol": "the only protocols that the endpoint speaks, with commas",
    "api-key-env": "environment variable that holds the key",
    "effort": "reasoning effort, as the judge's model knows it; another effort is another judge",
    "rubric": "five-artifacts, implementation, or package.module:Name (default: that of the trial's skill)",
    "repeats": "judgements of each trial by this judge (default: 1)",
    "only-missing": "leave out trials that any judge has scored by the rubric; judge those again whose "
    "answers were not valid",
    "cell": "only trials whose path holds one of these words or fits one of these patterns, with commas",
    "concurrency": "judgements at a time (default: 1)",
    "isolation": "none, sandbox or container (default: the strongest that works)",
    "timeout-seconds": "wall clock of one answer (default: 900)",
    "max-output-tokens": "per model answer (default: 16000 for direct, the agent's own for others)",
    "context-window": "of the judge's model (default: ask the server)",
    "price-input": "dollars per million fresh input tokens of the judge's model",
    "price-output": "dollars per million output tokens",
    "price-cache-read": "dollars per million tokens read from a cache",
    "price-cache-write": "dollars per million tokens written to a cache",
    "dry-run": "say what would be judged, and stop",
}
