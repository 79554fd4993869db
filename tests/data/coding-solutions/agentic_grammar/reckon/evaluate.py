from reckon.faults import Fault
from reckon.grammar import Parser
from reckon.tree import Binary, Call, Name, Negated, Number

FUNCTIONS = {"min": (min, None), "max": (max, None), "abs": (abs, 1)}


def evaluate(text, **values):
    return _value(Parser(text).parse(), values)


def _value(tree, values):
    if isinstance(tree, Number):
        return tree.value
    if isinstance(tree, Name):
        if tree.name not in values:
            raise Fault(f"unknown name {tree.name!r}", tree.place)
        return float(values[tree.name])
    if isinstance(tree, Negated):
        return -_value(tree.value, values)
    if isinstance(tree, Call):
        return _called(tree, values)
    left, right = _value(tree.left, values), _value(tree.right, values)
    if tree.sign == "^":
        return _power(left, right, tree.place)
    if tree.sign == "/" and right == 0:
        raise Fault("division by zero", tree.place)
    return {"+": lambda: left + right, "-": lambda: left - right, "*": lambda: left * right, "/": lambda: left / right}[
        tree.sign
    ]()


def _called(tree, values):
    if tree.name not in FUNCTIONS:
        raise Fault(f"unknown function {tree.name!r}", tree.place)
    function, count = FUNCTIONS[tree.name]
    if not tree.values or (count is not None and len(tree.values) != count):
        raise Fault("wrong number of values", tree.place)
    found = [_value(each, values) for each in tree.values]
    return function(found) if count is None else function(*found)


def _power(left, right, place):
    try:
        found = left**right
    except (ZeroDivisionError, OverflowError) as error:
        raise Fault(str(error), place) from None
    if isinstance(found, complex):
        raise Fault("no real number", place)
    return found
