RATES = {
    ("standard", "DE"): 19,
    ("reduced", "DE"): 7,
    ("standard", "FR"): 20,
    ("reduced", "FR"): 5.5,
}


def rate(kind, country):
    return RATES.get((kind, country), 0)
