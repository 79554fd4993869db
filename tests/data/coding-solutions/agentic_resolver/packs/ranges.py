from packs.version import Version


def allows(text, version):
    return all(_holds(condition.strip(), version) for condition in text.split(","))


def _holds(condition, version):
    if condition == "*":
        return True
    for sign, holds in _SIGNS:
        if condition.startswith(sign):
            return holds(version.numbers, Version(condition[len(sign) :].strip()).numbers)
    raise ValueError(f"no range: {condition!r}")


def _caret(left, right):
    keep = next((place for place, number in enumerate(right) if number), 2) + 1
    return left >= right and left[:keep] == right[:keep]


_SIGNS = (
    (">=", lambda left, right: left >= right),
    ("<=", lambda left, right: left <= right),
    ("==", lambda left, right: left == right),
    ("!=", lambda left, right: left != right),
    ("<", lambda left, right: left < right),
    (">", lambda left, right: left > right),
    ("^", _caret),
    ("~", lambda left, right: left >= right and left[:2] == right[:2]),
)
