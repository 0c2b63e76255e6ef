"""The only module that uses cryptography of others: keccak256 by pycryptodome, secp256k1 by ecdsa.

Another library takes their place here, or behind `bezel.signing.Signer`, which needs one method.
"""

from __future__ import annotations

from hashlib import sha256

from ecdsa import SECP256k1
from ecdsa.rfc6979 import generate_k

try:
    from Crypto.Hash import keccak as _keccak
except ImportError:  # Debian installs pycryptodome under this name.
    from Cryptodome.Hash import keccak as _keccak

ORDER: int = SECP256k1.order
"""The order of the curve. A private key is between 1 and this, exclusive."""


def keccak256(data: bytes) -> bytes:
    """Returns the hash that Ethereum uses, which is not SHA3-256."""
    return bytes(_keccak.new(digest_bits=256, data=data).digest())


def public_key(secret: int) -> bytes:
    """Returns the 64 bytes of the public key."""
    point = SECP256k1.generator * secret
    return int(point.x()).to_bytes(32, "big") + int(point.y()).to_bytes(32, "big")


def sign_digest(secret: int, digest: bytes) -> tuple[int, int, int]:
    """Signs 32 bytes and returns `(r, s, parity)`.

    The nonce is the one of RFC 6979 with SHA-256, so the same digest has the same signature. `s` is the lower one of
    the two that are valid, as the service and the chain demand; `parity` is the one that recovers the key.
    """
    number = int.from_bytes(digest, "big")
    skipped = 0
    while True:
        nonce = generate_k(ORDER, secret, sha256, digest, retry_gen=skipped)
        point = SECP256k1.generator * nonce
        r = int(point.x()) % ORDER
        s = pow(nonce, -1, ORDER) * (number + r * secret) % ORDER
        # A point beyond the order has no parity byte in Ethereum. Neither this nor a zero ever happens by chance.
        if r == 0 or s == 0 or int(point.x()) >= ORDER:
            skipped += 1
            continue
        parity = int(point.y()) & 1
        return (r, s, parity) if s <= ORDER // 2 else (r, ORDER - s, parity ^ 1)
