"""The part of the contract ABI that the Diamond's functions need: whole numbers, addresses, bytes, lists and tuples."""

from __future__ import annotations

import re
from typing import Any

from .crypto import keccak256

WORD = 32


class AbiError(ValueError):
    """Bytes that are no encoding of the type, or a value that does not fit into it."""


class Function:
    """A function of a contract, by its signature: `updateSl(uint32,uint64)`, or with a result `decimals()->uint8`."""

    def __init__(self, signature: str) -> None:
        declared, _, returned = signature.partition("->")
        self.signature = declared
        self.name = declared[: declared.index("(")]
        self.inputs = declared[len(self.name) :]
        self.outputs = f"({returned})"
        self.selector = keccak256(declared.encode())[:4]

    def encode(self, *args: Any) -> bytes:
        """Returns the calldata of a call."""
        return self.selector + encode(self.inputs, args)

    def decode(self, data: bytes) -> tuple[Any, ...]:
        """Returns the arguments of calldata. Raises `AbiError` unless the bytes are their one plain encoding."""
        args: tuple[Any, ...] = decode(self.inputs, data[4:])
        # Dirty padding, odd offsets and bytes behind the arguments give the same values but not the same bytes.
        if data != self.encode(*args):
            raise AbiError(f"the bytes are not the plain encoding of {self.name}")
        return args

    def result(self, data: bytes) -> Any:
        """Returns what the function answered: one value, or a tuple of several."""
        values = decode(self.outputs, data)
        return values[0] if len(values) == 1 else values


def encode(of: str, value: Any) -> bytes:
    """Encodes a value of a type, without its place in a list."""
    if of.endswith("[]"):
        return len(value).to_bytes(WORD, "big") + _encode_members([of[:-2]] * len(value), value)
    if of.startswith("("):
        members = split_tuple(of)
        if len(members) != len(value):
            raise AbiError(f"{of} has {len(members)} members, not {len(value)}")
        return _encode_members(members, value)
    if of in ("bytes", "string"):
        data: bytes = value.encode() if of == "string" else value
        return len(data).to_bytes(WORD, "big") + data + b"\0" * (-len(data) % WORD)
    if of == "address":
        return bytes.fromhex(value.removeprefix("0x")).rjust(WORD, b"\0")
    if of == "bool":
        return int(value).to_bytes(WORD, "big")
    bits, signed = _integer(of)
    try:
        value.to_bytes(bits // 8, "big", signed=signed)
    except OverflowError as error:
        raise AbiError(f"{value} does not fit into {of}") from error
    return bytes((value % (1 << 256)).to_bytes(WORD, "big"))


def _encode_members(types: list[str], values: Any) -> bytes:
    head_size = sum(WORD if is_dynamic(of) else static_size(of) for of in types)
    head, tail = b"", b""
    for of, value in zip(types, values, strict=True):
        encoded = encode(of, value)
        if is_dynamic(of):
            head += (head_size + len(tail)).to_bytes(WORD, "big")
            tail += encoded
        else:
            head += encoded
    return head + tail


def decode(of: str, data: bytes) -> Any:
    """Decodes a value of a type. Raises `AbiError` when the bytes are too short or out of range."""
    if of.endswith("[]"):
        count = int.from_bytes(_word(data, 0), "big")
        if count > len(data) // WORD:
            raise AbiError(f"a list of {count} does not fit into {len(data)} bytes")
        return list(_decode_members([of[:-2]] * count, data[WORD:]))
    if of.startswith("("):
        return _decode_members(split_tuple(of), data)
    if of in ("bytes", "string"):
        size = int.from_bytes(_word(data, 0), "big")
        if size > len(data) - WORD:
            raise AbiError(f"{size} bytes do not fit into {len(data)}")
        content = data[WORD : WORD + size]
        return content.decode() if of == "string" else content
    word = _word(data, 0)
    if of == "address":
        return "0x" + word[12:].hex()
    if of == "bool":
        return word != b"\0" * WORD
    bits, signed = _integer(of)
    value = int.from_bytes(word, "big", signed=signed)
    limit = 1 << (bits - 1 if signed else bits)
    if not (-limit if signed else 0) <= value < limit:
        raise AbiError(f"{value} does not fit into {of}")
    return value


def _decode_members(types: list[str], data: bytes) -> tuple[Any, ...]:
    values = []
    at = 0
    for of in types:
        if is_dynamic(of):
            values.append(decode(of, data[int.from_bytes(_word(data, at), "big") :]))
            at += WORD
        else:
            values.append(decode(of, data[at : at + static_size(of)]))
            at += static_size(of)
    return tuple(values)


def _word(data: bytes, at: int) -> bytes:
    word = data[at : at + WORD]
    if len(word) != WORD:
        raise AbiError("the bytes are too short")
    return word


def is_dynamic(of: str) -> bool:
    """Returns true for a type whose size depends on its value, which stands behind the others."""
    if of.endswith("[]") or of in ("bytes", "string"):
        return True
    return of.startswith("(") and any(is_dynamic(member) for member in split_tuple(of))


def static_size(of: str) -> int:
    """Returns the bytes that a value of a static type takes."""
    return sum(static_size(member) for member in split_tuple(of)) if of.startswith("(") else WORD


def split_tuple(of: str) -> list[str]:
    """Returns the types of the members of a tuple: `(uint8,(bool,bytes))` has two."""
    members: list[str] = []
    depth, current = 0, ""
    for char in of[1:-1]:
        depth += (char == "(") - (char == ")")
        if char == "," and depth == 0:
            members.append(current)
            current = ""
        else:
            current += char
    return [*members, current] if current else members


def _integer(of: str) -> tuple[int, bool]:
    match = re.fullmatch(r"(u?)int(\d+)", of)
    if match is None:
        raise AbiError(f"{of} is a type that the Diamond's functions do not use")
    return int(match[2]), match[1] == ""
