from dataclasses import dataclass

from reckon.faults import Fault

SIGNS = "+-*/()^,"


@dataclass(frozen=True)
class Token:
    kind: str
    text: str
    place: int


def tokens(text):
    found = []
    place = 0
    while place < len(text):
        letter = text[place]
        if letter.isspace():
            place += 1
            continue
        start = place
        if letter.isdigit():
            while place < len(text) and (text[place].isdigit() or text[place] == "."):
                place += 1
            if text[start:place].count(".") > 1:
                raise Fault("malformed number", start)
            found.append(Token("number", text[start:place], start))
        elif letter.isalpha() or letter == "_":
            while place < len(text) and (text[place].isalnum() or text[place] == "_"):
                place += 1
            found.append(Token("name", text[start:place], start))
        elif letter in SIGNS:
            place += 1
            found.append(Token("sign", letter, start))
        else:
            raise Fault(f"unknown sign {letter!r}", start)
    return [*found, Token("end", "", len(text))]
