def matches(pattern, topic):
    return _fits(pattern.split("."), topic.split("."))


def _fits(wanted, given):
    if not wanted:
        return not given
    if wanted[0] == "**":
        return any(_fits(wanted[1:], given[skip:]) for skip in range(len(given) + 1))
    return bool(given) and wanted[0] in ("*", given[0]) and _fits(wanted[1:], given[1:])
