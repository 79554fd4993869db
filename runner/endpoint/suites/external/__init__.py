"""External: suites whose cases come from files of other people's."""
