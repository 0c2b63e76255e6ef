"""The last of the tests of the world: together they have called every operation."""

import unittest

from bezel.api import OPERATIONS

from .cases import IS_WHOLE
from .world import CALLED


class Whole(unittest.TestCase):
    @unittest.skipUnless(IS_WHOLE, "only npm test runs all of them")
    def test_every_operation_was_called(self) -> None:
        self.assertEqual(set(OPERATIONS) - CALLED, set())
