from clock.planner import remaining
from clock.spans import add, format_span, parse_span, subtract

__all__ = ["add", "format_span", "parse_span", "remaining", "subtract"]
