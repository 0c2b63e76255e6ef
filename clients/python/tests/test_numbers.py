"""Exact decimals, RLP and the ABI."""

import unittest
from decimal import ROUND_UP, Decimal

from bezel import abi, add, mul, number, plain, round_price, round_size, sub
from bezel.calls import json_bytes
from bezel.decimals import from_units, units
from bezel.transactions import rlp

MARKET = {"pricePrecision": 2, "sizePrecision": 5}


class Decimals(unittest.TestCase):
    def test_never_round(self) -> None:
        long = "0.1234567890123456789012345678901234567"
        self.assertEqual(plain(mul(long, "3")), "0.3703703670370370367037037036703703701")
        self.assertEqual(plain(add(long, "10000000000")), "10000000000.1234567890123456789012345678901234567")
        self.assertEqual(plain(sub("0.3", "0.1")), "0.2")

    def test_refuse_floats_and_what_is_no_decimal_string(self) -> None:
        for value in (0.1, 1, "1e5", " 1", "01", ".5", "1.", "", "NaN", None, True):
            with self.assertRaises(TypeError, msg=repr(value)):
                number(value)
        with self.assertRaises(ValueError):
            number(Decimal("NaN"))
        with self.assertRaisesRegex(TypeError, "float"):
            json_bytes({"size": 0.01})

    def test_are_written_as_the_interface_writes_them(self) -> None:
        for value, text in (("1.500", "1.5"), ("-0", "0"), ("0.0", "0"), (Decimal("1E+3"), "1000"), ("100", "100")):
            self.assertEqual(plain(value), text)
        body = {"size": Decimal("0.010"), "on": True, "many": [Decimal(2)]}
        self.assertEqual(json_bytes(body), b'{"size":"0.01","on":true,"many":["2"]}')

    def test_are_rounded_to_the_market(self) -> None:
        self.assertEqual(round_price(MARKET, "60123.456"), "60123.46")
        self.assertEqual(round_price(MARKET, "60123.451", ROUND_UP), "60123.46")
        self.assertEqual(round_size(MARKET, Decimal("0.123459")), "0.12345")

    def test_become_units_exactly_or_not_at_all(self) -> None:
        self.assertEqual(units("12.345", 3), 12345)
        self.assertEqual(from_units(-12345, 3), "-12.345")
        with self.assertRaises(ValueError):
            units("0.0001", 3)


class Encodings(unittest.TestCase):
    def test_rlp(self) -> None:
        # The examples of the Ethereum documentation.
        lorem = b"Lorem ipsum dolor sit amet, consectetur adipisicing elit"
        for value, encoded in (
            (b"dog", "83646f67"),
            ([b"cat", b"dog"], "c88363617483646f67"),
            (b"", "80"),
            ([], "c0"),
            (0, "80"),
            (15, "0f"),
            (1024, "820400"),
            ([[], [[]], [[], [[]]]], "c7c0c1c0c3c0c1c0"),
            (lorem, "b838" + lorem.hex()),
        ):
            self.assertEqual(rlp(value).hex(), encoded)

    def test_abi(self) -> None:
        # The example of the Solidity documentation: sam("dave", true, [1, 2, 3]).
        sam = abi.Function("sam(bytes,bool,uint256[])")
        words = ["60", "01", "a0", "04", "", "03", "01", "02", "03"]
        data = "a5643bf2" + "".join(word.rjust(64, "0") for word in words)
        data = data[: 8 + 64 * 4] + b"dave".hex().ljust(64, "0") + data[8 + 64 * 5 :]
        self.assertEqual(sam.encode(b"dave", True, [1, 2, 3]).hex(), data)
        self.assertEqual(sam.decode(bytes.fromhex(data)), (b"dave", True, [1, 2, 3]))

    def test_abi_accepts_one_encoding_only(self) -> None:
        sl = abi.Function("updateSl(uint32,uint64)")
        data = sl.encode(1, 2)
        for broken in (data + b"\0", data[:-1], data[:5] + b"\1" + data[6:], data[:4] + b"\1" * 64):
            with self.assertRaises(abi.AbiError):
                sl.decode(broken)
        with self.assertRaises(abi.AbiError):
            sl.encode(1 << 32, 0)
        with self.assertRaises(abi.AbiError):
            abi.decode("bytes[]", (2**255).to_bytes(32, "big"))

    def test_abi_round_trips_nested_tuples(self) -> None:
        of = "(uint8,(string,int256)[],(address,bool))"
        value = (7, [("a", -5), ("b" * 40, 2**200)], ("0x" + "ab" * 20, False))
        self.assertEqual(abi.decode(of, abi.encode(of, value)), value)
