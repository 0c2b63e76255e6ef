"""Signatures of the interface: EIP-712 structs, the keys that sign them, and the structs themselves."""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping, Sequence
from typing import Any, Protocol, TypedDict

from . import crypto
from .errors import ConfigError
from .types import AgentScope

Fields = Sequence[tuple[str, str]]
"""The fields of a struct in their order: name and type."""


class SigningDomain(TypedDict):
    """The EIP-712 domain of a deployment on a chain, as `GET /v1/{chain}` publishes it."""

    name: str
    version: str
    chainId: int
    verifyingContract: str


class Signer(Protocol):
    """A key that signs digests: `PrivateKey` in this process, a hardware wallet, or that of another library."""

    @property
    def address(self) -> str:
        """The address of the key, with its checksum."""

    def sign(self, digest: bytes) -> tuple[int, int, int]:
        """Signs 32 bytes and returns `(r, s, parity)`, with the lower `s`."""


class PrivateKey:
    """A private key in this process."""

    def __init__(self, key: str | bytes | int) -> None:
        secret = key if isinstance(key, int) else int.from_bytes(_key_bytes(key), "big")
        if not 0 < secret < crypto.ORDER:
            raise ValueError("This is no private key: it must be between 1 and the order of secp256k1.")
        self._secret = secret
        self._address = checksum_address("0x" + crypto.keccak256(crypto.public_key(secret))[-20:].hex())

    @classmethod
    def generate(cls) -> PrivateKey:
        """Makes a new key from the randomness of the system."""
        return cls(1 + secrets.randbelow(crypto.ORDER - 1))

    @property
    def address(self) -> str:
        return self._address

    @property
    def hex(self) -> str:
        """The key as text, to be kept secret."""
        return f"0x{self._secret:064x}"

    def sign(self, digest: bytes) -> tuple[int, int, int]:
        return crypto.sign_digest(self._secret, digest)

    def __repr__(self) -> str:
        return f"PrivateKey of {self._address}"


def _key_bytes(key: str | bytes) -> bytes:
    data = bytes.fromhex(key.removeprefix("0x")) if isinstance(key, str) else key
    if len(data) != 32:
        raise ValueError(f"A private key has 32 bytes, and this has {len(data)}.")
    return data


def checksum_address(address: str) -> str:
    """Returns an address in the mixed case of EIP-55."""
    plain = address.removeprefix("0x").lower()
    digest = crypto.keccak256(plain.encode()).hex()
    return "0x" + "".join(char.upper() if int(digest[at], 16) > 7 else char for at, char in enumerate(plain))


def same_address(one: str, other: str) -> bool:
    """Returns true when two texts are the same address, in whatever case."""
    return one.lower() == other.lower()


def address_of(who: Signer | str) -> str:
    """Returns the address of a key, or the address that was given. Raises `ConfigError` for text that is none."""
    if not isinstance(who, str):
        return who.address
    if not re.fullmatch("0x[0-9a-fA-F]{40}", who):
        # The text is not repeated, because it may be a key.
        raise ConfigError("An agent is an address, 0x and 40 digits, or a key, such as PrivateKey(text).")
    return checksum_address(who)


REQUEST_FIELDS: Fields = (
    ("method", "string"),
    ("path", "string"),
    ("bodyHash", "bytes32"),
    ("timestamp", "uint256"),
    ("nonce", "uint256"),
)

AGENT_AUTHORIZATION_FIELDS: Fields = (
    ("agent", "address"),
    ("name", "string"),
    ("markets", "string"),
    ("maxLeverage", "string"),
    ("dailySpendCapUsd", "string"),
    ("expiresAt", "uint256"),
    ("permissions", "string"),
    ("timestamp", "uint256"),
)

AGENT_REVOCATION_FIELDS: Fields = (("agent", "address"), ("timestamp", "uint256"))

API_KEY_ISSUE_FIELDS: Fields = (("label", "string"), ("timestamp", "uint256"))

_DOMAIN_FIELDS: Fields = (
    ("name", "string"),
    ("version", "string"),
    ("chainId", "uint256"),
    ("verifyingContract", "address"),
)


def typed_data_digest(domain: SigningDomain, primary_type: str, fields: Fields, message: Mapping[str, Any]) -> bytes:
    """Returns the 32 bytes that EIP-712 signs for a flat struct."""
    separator = _hash_struct("EIP712Domain", _DOMAIN_FIELDS, domain)
    return crypto.keccak256(b"\x19\x01" + separator + _hash_struct(primary_type, fields, message))


def _hash_struct(name: str, fields: Fields, values: Mapping[str, Any]) -> bytes:
    declared = f"{name}({','.join(f'{of} {field}' for field, of in fields)})"
    words = [_word(of, values[field]) for field, of in fields]
    return crypto.keccak256(crypto.keccak256(declared.encode()) + b"".join(words))


def _word(of: str, value: Any) -> bytes:
    if of == "string":
        return crypto.keccak256(value.encode())
    if of == "uint256":
        return int(value).to_bytes(32, "big")
    if of == "address":
        return bytes.fromhex(value.removeprefix("0x")).rjust(32, b"\0")
    if of == "bytes32":
        return bytes(value)
    raise ValueError(f"The structs of the interface have no field of type {of}.")


def signature_text(signature: tuple[int, int, int]) -> str:
    """Returns a signature as the 65 bytes that the interface takes."""
    r, s, parity = signature
    return f"0x{r:064x}{s:064x}{27 + parity:02x}"


def request_digest(
    domain: SigningDomain, operation_id: str, *, method: str, path: str, body: bytes, timestamp: int, nonce: int
) -> bytes:
    """Returns the digest of a private request. `path` has its query, exactly as it is sent."""
    message = {
        "method": method,
        "path": path,
        "bodyHash": crypto.keccak256(body),
        "timestamp": timestamp,
        "nonce": nonce,
    }
    return typed_data_digest(domain, operation_id, REQUEST_FIELDS, message)


def authorization_digest(
    domain: SigningDomain, *, agent: str, name: str | None, scope: AgentScope, timestamp: int
) -> bytes:
    """Returns the digest with which a master wallet authorises an agent, and the agent proves that it is one."""
    markets = scope["markets"]
    message = {
        "agent": agent,
        "name": name or "",
        "markets": "*" if isinstance(markets, str) else ",".join(markets),
        "maxLeverage": scope["maxLeverage"] or "",
        "dailySpendCapUsd": scope["dailySpendCapUsd"] or "",
        "expiresAt": scope["expiresAt"] or 0,
        "permissions": scope["permissions"],
        "timestamp": timestamp,
    }
    return typed_data_digest(domain, "AgentAuthorization", AGENT_AUTHORIZATION_FIELDS, message)


def revocation_digest(domain: SigningDomain, *, agent: str, timestamp: int) -> bytes:
    """Returns the digest with which a master wallet revokes an agent."""
    message = {"agent": agent, "timestamp": timestamp}
    return typed_data_digest(domain, "AgentRevocation", AGENT_REVOCATION_FIELDS, message)


def api_key_digest(domain: SigningDomain, *, label: str, timestamp: int) -> bytes:
    """Returns the digest with which a master wallet issues a read-only key."""
    return typed_data_digest(domain, "ApiKeyIssue", API_KEY_ISSUE_FIELDS, {"label": label, "timestamp": timestamp})
