from shop.order import Order


def read_orders(text, catalogue):
    orders = []
    for row in text.splitlines():
        words = row.split()
        if not words or words[0].startswith("#"):
            continue
        if words[0] == "order":
            orders.append(Order(words[1]))
        else:
            orders[-1].add(catalogue.find(words[0]), int(words[1]) if len(words) > 1 else 1)
    return orders
