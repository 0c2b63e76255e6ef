"""Transactions of type 2 (EIP-1559): their encoding and their signature."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Union

from .crypto import keccak256
from .signing import Signer

Rlp = Union[bytes, int, Sequence["Rlp"]]


def rlp(value: Rlp) -> bytes:
    """Encodes bytes, whole numbers and lists of them as RLP."""
    if isinstance(value, int):
        return rlp(value.to_bytes((value.bit_length() + 7) // 8, "big"))
    if isinstance(value, bytes):
        if len(value) == 1 and value[0] < 0x80:
            return value
        return _length(len(value), 0x80) + value
    body = b"".join(rlp(item) for item in value)
    return _length(len(body), 0xC0) + body


def _length(size: int, offset: int) -> bytes:
    if size <= 55:
        return bytes([offset + size])
    digits = size.to_bytes((size.bit_length() + 7) // 8, "big")
    return bytes([offset + 55 + len(digits)]) + digits


@dataclass(frozen=True)
class Transaction:
    """A transaction that sends no coin, as everything is that this package sends."""

    chain_id: int
    nonce: int
    max_priority_fee_per_gas: int
    max_fee_per_gas: int
    gas: int
    to: str
    data: str

    def signed(self, signer: Signer) -> str:
        """Returns the signed bytes as `eth_sendRawTransaction` takes them."""
        fields: list[Rlp] = [
            self.chain_id,
            self.nonce,
            self.max_priority_fee_per_gas,
            self.max_fee_per_gas,
            self.gas,
            bytes.fromhex(self.to.removeprefix("0x")),
            0,
            bytes.fromhex(self.data.removeprefix("0x")),
            [],
        ]
        r, s, parity = signer.sign(keccak256(b"\x02" + rlp(fields)))
        return "0x" + (b"\x02" + rlp([*fields, parity, r, s])).hex()


def hash_of(raw: str) -> str:
    """Returns the hash of signed bytes, under which the chain knows the transaction."""
    return "0x" + keccak256(bytes.fromhex(raw.removeprefix("0x"))).hex()
