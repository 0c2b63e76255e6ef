"""Digests, keys and signatures, against vectors that nobody here made."""

import hashlib
import unittest

import ecdsa
from bezel import crypto
from bezel.signing import (
    PrivateKey,
    SigningDomain,
    authorization_digest,
    checksum_address,
    request_digest,
    signature_text,
    typed_data_digest,
)
from ecdsa.rfc6979 import generate_k

ARBITRUM: SigningDomain = {
    "name": "Gains Trading API",
    "version": "1",
    "chainId": 42161,
    "verifyingContract": "0xFF162c694eAA571f685030649814282eA457f169",
}

HALF_ORDER = crypto.ORDER // 2


class Digests(unittest.TestCase):
    """The golden digests of the interface."""

    def test_of_a_request(self) -> None:
        digest = request_digest(
            ARBITRUM,
            "createOrder",
            method="POST",
            path="/v1/arbitrum/orders?x=1",
            body=b'{"market":"BTC/USD","size":"0.1"}',
            timestamp=1700000000000,
            nonce=1700000000000001,
        )
        self.assertEqual(digest.hex(), "61dfaa03e9cc0db4071308623b33593ae1643182149ec742e2549fe9fd804d4a")

    def test_of_an_authorization(self) -> None:
        digest = authorization_digest(
            ARBITRUM,
            agent="0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
            name="bot",
            scope={
                "markets": ["BTC/USD", "ETH/USD"],
                "maxLeverage": "20",
                "dailySpendCapUsd": "1000",
                "expiresAt": None,
                "permissions": "trade",
            },
            timestamp=1700000000000,
        )
        self.assertEqual(digest.hex(), "39c515ea9b58c9f56a101c82f6025b8395bde9e547229def730bf1a4ec680b97")

    def test_of_an_empty_body(self) -> None:
        empty = "c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470"
        self.assertEqual(crypto.keccak256(b"").hex(), empty)

    def test_refuse_a_field_that_no_struct_has(self) -> None:
        with self.assertRaises(ValueError):
            typed_data_digest(ARBITRUM, "Odd", (("x", "int8"),), {"x": 1})


class Rfc6979(unittest.TestCase):
    """Nonces that follow from key and message, so that no signature ever depends on bad randomness."""

    def test_nonces_of_the_rfc(self) -> None:
        # RFC 6979, A.2.5: ECDSA, 256 bits, prime field. Key, then the nonces of two messages by hash.
        secret = 0xC9AFA9D845BA75166B5C215767B1D6934E50C3DB36E89B127B8A622B120F6721
        order = ecdsa.NIST256p.order
        for message, name, nonce in (
            (b"sample", "sha1", 0x882905F1227FD620FBF2ABF21244F0BA83D0DC3A9103DBBEE43A1FB858109DB4),
            (b"sample", "sha224", 0x103F90EE9DC52E5E7FB5132B7033C63066D194321491862059967C715985D473),
            (b"sample", "sha256", 0xA6E3C57DD01ABE90086538398355DD4C3B17AA873382B0F24D6129493D8AAD60),
            (b"sample", "sha384", 0x09F634B188CEFD98E7EC88B1AA9852D734D0BC272F7D2A47DECC6EBEB375AAD4),
            (b"sample", "sha512", 0x5FA81C63109BADB88C1F367B47DA606DA28CAD69AA22C4FE6AD7DF73A7173AA5),
            (b"test", "sha1", 0x8C9520267C55D6B980DF741E56B4ADEE114D84FBFA2E62137954164028632A2E),
            (b"test", "sha256", 0xD16B6AE827F17175E040871A1C7EC3500192C4C92677336EC2537ACAEE0008E0),
            (b"test", "sha512", 0x6915D11632ACA3C40D5D51C08DAF9C555933819548784480E93499000D9F0B7F),
        ):
            hashed = getattr(hashlib, name)
            self.assertEqual(generate_k(order, secret, hashed, hashed(message).digest()), nonce, (message, name))

    def test_signatures_on_secp256k1(self) -> None:
        # The vectors that implementations of the curve share: key, message (hashed once by SHA-256), r and low s.
        for secret, message, r, s in (
            (
                1,
                b"Satoshi Nakamoto",
                0x934B1EA10A4B3C1757E2B0C017D0B6143CE3C9A7E6A4A49860D7A6AB210EE3D8,
                0x2442CE9D2B916064108014783E923EC36B49743E2FFA1C4496F01A512AAFD9E5,
            ),
            (
                1,
                b"All those moments will be lost in time, like tears in rain. Time to die...",
                0x8600DBD41E348FE5C9465AB92D23E3DB8B98B873BEECD930736488696438CB6B,
                0x547FE64427496DB33BF66019DACBF0039C04199ABB0122918601DB38A72CFC21,
            ),
            (
                crypto.ORDER - 1,
                b"Satoshi Nakamoto",
                0xFD567D121DB66E382991534ADA77A6BD3106F0A1098C231E47993447CD6AF2D0,
                0x6B39CD0EB1BC8603E159EF5C20A5C8AD685A45B06CE9BEBED3F153D10D93BED5,
            ),
        ):
            self.assertEqual(crypto.sign_digest(secret, hashlib.sha256(message).digest())[:2], (r, s))

    def test_the_parity_recovers_the_key(self) -> None:
        key = PrivateKey("0x" + "11" * 32)
        for number in range(24):
            digest = crypto.keccak256(bytes([number]))
            r, s, parity = key.sign(digest)
            self.assertLessEqual(s, HALF_ORDER)
            found = ecdsa.VerifyingKey.from_public_key_recovery_with_digest(
                r.to_bytes(32, "big") + s.to_bytes(32, "big"), digest, ecdsa.SECP256k1, hashlib.sha256
            )
            points = [one.to_string() for one in found]
            self.assertIn(crypto.public_key(int("11" * 32, 16)), points)
            # Both candidates have the same x; ours is the one with this parity of y of R.
            self.assertEqual(_recover(r, s, parity, digest), crypto.public_key(int("11" * 32, 16)))


def _recover(r: int, s: int, parity: int, digest: bytes) -> bytes:
    """Recovers a public key by the formula of SEC 1, 4.1.6."""
    curve, generator = ecdsa.SECP256k1.curve, ecdsa.SECP256k1.generator
    prime = curve.p()
    y = pow(pow(r, 3, prime) + 7, (prime + 1) // 4, prime)
    y = y if y & 1 == parity else prime - y
    point = ecdsa.ellipticcurve.Point(curve, r, y, crypto.ORDER)
    inverse = pow(r, -1, crypto.ORDER)
    found = point * (s * inverse % crypto.ORDER) + generator * (-int.from_bytes(digest, "big") * inverse % crypto.ORDER)
    return int(found.x()).to_bytes(32, "big") + int(found.y()).to_bytes(32, "big")


class Keys(unittest.TestCase):
    def test_addresses_have_their_checksum(self) -> None:
        # The examples of EIP-55.
        for address in (
            "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
            "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359",
            "0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB",
            "0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb",
        ):
            self.assertEqual(checksum_address(address.lower()), address)

    def test_a_key_is_32_bytes_within_the_curve(self) -> None:
        for key in ("0x00", "00" * 32, b"\xff" * 32, crypto.ORDER, 0):
            with self.assertRaises(ValueError):
                PrivateKey(key)
        self.assertEqual(PrivateKey(1).address, "0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf")
        self.assertEqual(PrivateKey(PrivateKey(7).hex).address, PrivateKey(7).address)

    def test_a_key_is_not_printed(self) -> None:
        key = PrivateKey.generate()
        self.assertNotIn(key.hex[2:], repr(key))

    def test_a_signature_has_65_bytes(self) -> None:
        text = signature_text((1, 2, 1))
        self.assertEqual(len(text), 2 + 130)
        self.assertTrue(text.endswith("1c"))
