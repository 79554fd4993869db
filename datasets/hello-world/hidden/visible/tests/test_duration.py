import unittest

from clockbook.duration import format_minutes, parse_minutes, round_minutes


class ParseMinutes(unittest.TestCase):
    def test_every_way_to_write_an_hour_and_a_half(self):
        for text in ("1h30", "1h30m", "1:30", "90m", " 1H30 "):
            self.assertEqual(parse_minutes(text), 90, text)

    def test_hours_alone(self):
        self.assertEqual(parse_minutes("2h"), 120)

    def test_what_is_no_duration_is_refused(self):
        for text in ("", "h", "30", "1:75", "-5m", "soon"):
            with self.assertRaises(ValueError, msg=text):
                parse_minutes(text)


class FormatMinutes(unittest.TestCase):
    def test_minutes_have_two_digits(self):
        self.assertEqual(format_minutes(65), "1:05")

    def test_less_than_an_hour(self):
        self.assertEqual(format_minutes(7), "0:07")


class RoundMinutes(unittest.TestCase):
    def test_the_nearest_step(self):
        self.assertEqual(round_minutes(67, 15), 60)
        self.assertEqual(round_minutes(68, 15), 75)

    def test_halfway_goes_up(self):
        self.assertEqual(round_minutes(5, 10), 10)

    def test_a_step_of_nothing_is_refused(self):
        with self.assertRaises(ValueError):
            round_minutes(10, 0)


if __name__ == "__main__":
    unittest.main()
