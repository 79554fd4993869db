STEPS = ((10_000, 3), (25_000, 5), (50_000, 8))


def percent(net):
    best = 0
    for least, reward in STEPS:
        if net >= least:
            best = reward
    return best
