from clock.spans import parse_span, subtract


def remaining(plan, spent):
    return {
        name: subtract(parse_span(text), parse_span(spent[name])) if name in spent else parse_span(text)
        for name, text in plan.items()
    }
