from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class Order:
    supplier: str
    article: str
    pieces: int
    cents: int


class MissingSupplier(Exception):
    def __init__(self, articles):
        super().__init__(", ".join(articles))
        self.articles = articles


def reorder_list(stock, sold, suppliers, days=14):
    if days < 1:
        raise ValueError("days")
    orders, missing = [], []
    for article in {*stock, *sold}:
        sales = sold.get(article) or []
        demand = -(-Fraction(sum(sales) * days, len(sales)) // 1) if sales else 0
        lacking = demand - stock.get(article, 0)
        if lacking <= 0:
            continue
        offers = [(each.prices[article], each.name, each.box) for each in suppliers if article in each.prices]
        if not offers:
            missing.append(article)
            continue
        price, name, box = min(offers)
        pieces = -(-lacking // box) * box
        orders.append(Order(name, article, pieces, pieces * price))
    if missing:
        raise MissingSupplier(sorted(missing))
    return sorted(orders, key=lambda order: (order.supplier, order.article))
