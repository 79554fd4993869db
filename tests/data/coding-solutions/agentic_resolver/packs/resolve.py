from packs.faults import Conflict
from packs.ranges import allows


def resolve(index, wanted):
    found = _search(index, {}, {name: [text] for name, text in wanted.items()})
    if found is None:
        raise Conflict(", ".join(wanted))
    return found


def _search(index, chosen, ranges):
    """Depth first: decide the first package that is needed and has no version yet."""
    name = next((each for each in ranges if each not in chosen), None)
    if name is None:
        return chosen
    for version in index.versions(name):
        if not all(allows(text, version) for text in ranges[name]):
            continue
        more = {each: list(texts) for each, texts in ranges.items()}
        for need, text in index.needs(name, version).items():
            more.setdefault(need, []).append(text)
        picked = {**chosen, name: version.text}
        if any(not _fits(index, each, picked[each], more[each]) for each in picked):
            continue
        found = _search(index, picked, more)
        if found is not None:
            return found
    return None


def _fits(index, name, text, ranges):
    version = next(each for each in index.versions(name) if each.text == text)
    return all(allows(each, version) for each in ranges)
