import unittest
from datetime import date, time

from clockbook.parser import TimesheetError, parse

SHEET = """\
; first week of March
2026-03-02
09:00-10:30 harbour: crane driver #billable
10:30-12:00 office: mail

2026-03-03
8:15 - 9:00 harbour: radio check #billable #field
9:00-9:20 office
"""


class Parse(unittest.TestCase):
    def test_entries_stand_in_the_order_of_the_file(self):
        entries = parse(SHEET)
        self.assertEqual([entry.project for entry in entries], ["harbour", "office", "harbour", "office"])

    def test_an_entry_has_day_times_note_and_tags(self):
        entry = parse(SHEET)[2]
        self.assertEqual(entry.day, date(2026, 3, 3))
        self.assertEqual((entry.start, entry.end), (time(8, 15), time(9, 0)))
        self.assertEqual(entry.note, "radio check")
        self.assertEqual(entry.tags, ("billable", "field"))
        self.assertEqual(entry.minutes, 45)

    def test_a_note_is_not_required(self):
        self.assertEqual(parse(SHEET)[3].note, "")


class Faults(unittest.TestCase):
    def refused(self, text, line):
        with self.assertRaises(TimesheetError) as caught:
            parse(text)
        self.assertEqual(caught.exception.line, line)

    def test_an_entry_without_a_day(self):
        self.refused("09:00-10:00 office: mail\n", 1)

    def test_a_day_that_does_not_exist(self):
        self.refused("\n2026-02-30\n", 2)

    def test_a_time_that_does_not_exist(self):
        self.refused("2026-03-02\n09:00-25:00 office: mail\n", 2)

    def test_an_entry_that_takes_no_time(self):
        self.refused("2026-03-02\n09:00-09:00 office: mail\n", 2)

    def test_a_line_of_prose(self):
        self.refused("2026-03-02\nwent fishing\n", 2)


if __name__ == "__main__":
    unittest.main()
