from packs.faults import Circle
from packs.version import Version


def install_order(index, chosen):
    needs = {name: {n for n in index.needs(name, Version(v)) if n in chosen} for name, v in chosen.items()}
    done = []
    while len(done) < len(chosen):
        ready = sorted(name for name in chosen if name not in done and needs[name] <= set(done))
        if not ready:
            raise Circle(sorted(name for name in needs if name in _reach(needs, name)))
        done.append(ready[0])
    return done


def _reach(needs, start):
    seen, waiting = set(), list(needs[start])
    while waiting:
        name = waiting.pop()
        if name not in seen:
            seen.add(name)
            waiting.extend(needs[name])
    return seen
