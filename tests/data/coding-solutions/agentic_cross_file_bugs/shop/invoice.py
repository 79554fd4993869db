from dataclasses import dataclass

from shop import discount, tax
from shop.money import share


@dataclass(frozen=True)
class Invoice:
    net: int
    discount: int
    tax: int

    @property
    def total(self):
        return self.net - self.discount + self.tax


def invoice(order):
    net = sum(line.net for line in order.lines)
    percent = discount.percent(net)
    off = due = 0
    for line in order.lines:
        less = share(line.net, percent)
        off += less
        due += share(line.net - less, tax.rate(line.article.tax, order.country))
    return Invoice(net, off, due)
