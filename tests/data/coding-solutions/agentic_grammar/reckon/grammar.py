from reckon.faults import Fault
from reckon.tokens import tokens
from reckon.tree import Binary, Call, Name, Negated, Number


class Parser:
    def __init__(self, text):
        self._tokens = tokens(text)
        self._next = 0

    def parse(self):
        tree = self._sum()
        if self._peek().kind != "end":
            raise Fault(f"unexpected {self._peek().text!r}", self._peek().place)
        return tree

    def _peek(self):
        return self._tokens[self._next]

    def _take(self):
        token = self._tokens[self._next]
        self._next += 1
        return token

    def _is_sign(self, signs):
        return self._peek().kind == "sign" and self._peek().text in signs

    def _sum(self):
        tree = self._product()
        while self._is_sign("+-"):
            token = self._take()
            tree = Binary(token.text, tree, self._product(), token.place)
        return tree

    def _product(self):
        tree = self._signed()
        while self._is_sign("*/"):
            token = self._take()
            tree = Binary(token.text, tree, self._signed(), token.place)
        return tree

    def _signed(self):
        if self._is_sign("+-"):
            token = self._take()
            tree = self._signed()
            return Negated(tree) if token.text == "-" else tree
        return self._power()

    def _power(self):
        tree = self._atom()
        if self._is_sign("^"):
            token = self._take()
            return Binary("^", tree, self._signed(), token.place)
        return tree

    def _atom(self):
        token = self._take()
        if token.kind == "number":
            return Number(float(token.text))
        if token.kind == "name":
            if self._is_sign("("):
                return self._call(token)
            return Name(token.text, token.place)
        if token.kind == "sign" and token.text == "(":
            tree = self._sum()
            self._close(token)
            return tree
        raise Fault("a value is missing", token.place)

    def _call(self, name):
        opened = self._take()
        values = []
        if not self._is_sign(")"):
            values.append(self._sum())
            while self._is_sign(","):
                self._take()
                values.append(self._sum())
        self._close(opened)
        return Call(name.text, tuple(values), name.place)

    def _close(self, opened):
        if not self._is_sign(")"):
            raise Fault("a bracket is not closed", opened.place)
        self._take()
