from fractions import Fraction


def rounded(value):
    value = Fraction(value)
    size = int(abs(value) + Fraction(1, 2))
    return -size if value < 0 else size


def share(cents, percent):
    return rounded(Fraction(cents) * Fraction(str(percent)) / 100)


def text(cents):
    sign = "-" if cents < 0 else ""
    return f"{sign}{abs(cents) // 100}.{abs(cents) % 100:02d}"
