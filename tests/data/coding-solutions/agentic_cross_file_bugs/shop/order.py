from shop.lines import Line


class Order:
    def __init__(self, country="DE", lines=()):
        self.country = country
        self.lines = list(lines)

    def add(self, article, pieces=1):
        for place, line in enumerate(self.lines):
            if line.article.code == article.code:
                self.lines[place] = Line(article, line.pieces + pieces)
                return
        self.lines.append(Line(article, pieces))
