from shop.invoice import invoice
from shop.money import text


def statement(orders):
    rows = [invoice(order).total for order in orders]
    width = max(len(text(row)) for row in [*rows, sum(rows)])
    lines = [f"{number:>3}  {text(row):>{width}}" for number, row in enumerate(rows, 1)]
    return "\n".join([*lines, f"sum  {text(sum(rows)):>{width}}"])
