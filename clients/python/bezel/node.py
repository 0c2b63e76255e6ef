"""A node of the chain over JSON-RPC: reads contracts, and signs and sends transactions."""

from __future__ import annotations

import itertools
import json
import threading
import time
from collections import OrderedDict, defaultdict
from functools import partial
from typing import Any

from .abi import Function
from .calls import Io
from .errors import ConfigError, NetworkError, NodeError, TransactionReverted, WaitTimeout
from .http import Http
from .signing import Signer
from .transactions import Transaction, hash_of

MAX_REMEMBERED = 1_000
"""Transactions that are remembered as sent. They expire within minutes."""

TRIES = 3
PAUSE_S = 0.5

_Key = tuple[int, str, str]
_sent: OrderedDict[_Key, str] = OrderedDict()
"""Signed bytes by chain, sender and data, from before they are sent: a repeat sends them and signs nothing anew."""

_heard: set[_Key] = set()
"""Those of them that a node has confirmed."""

_locks: defaultdict[tuple[int, str], threading.Lock] = defaultdict(threading.Lock)
"""One for each sender, so that each transaction gets the nonce after the one before it."""


class Node:
    """A node. Safe to use from several threads."""

    def __init__(self, io: Io, rpc_url: str, timeout_s: float) -> None:
        self._io = io
        self._http = Http(rpc_url, timeout_s)
        self._ids = itertools.count(1)
        self._chain_id: int | None = None

    def close(self) -> None:
        """Closes the connections that are kept."""
        self._http.close()

    async def require_chain(self, chain_id: int) -> None:
        """Raises `ConfigError` unless the node is one of this chain. One that is, is not asked again."""
        if self._chain_id != chain_id:
            found = int(await self._look_up("eth_chainId", []), 16)
            _expect_chain(chain_id, found)
            self._chain_id = found

    async def read(self, contract: str, function: Function, *args: Any) -> Any:
        """Calls a view of a contract at the latest block."""
        call = {"to": contract, "data": "0x" + function.encode(*args).hex()}
        answer = await self._look_up("eth_call", [call, "latest"])
        return function.result(bytes.fromhex(str(answer).removeprefix("0x")))

    async def send(
        self, signer: Signer, *, to: str, data: str, chain_id: int, gas: int | None, once: bool = False
    ) -> str:
        """Signs and sends a transaction of value 0, and returns its hash.

        With `once` the same data are sent once in the life of this process: a repeat answers the hash of the first,
        since a prepared order that is sent twice would trade twice.
        """
        return await self._io.run(lambda: self._send(signer, to, data, chain_id, gas, once))

    async def wait_for_receipt(self, tx_hash: str, *, timeout_s: float, poll_s: float) -> None:
        """Waits until a transaction is mined. Raises `TransactionReverted` when it reverted."""
        deadline = time.monotonic() + timeout_s
        while True:
            receipt = await self._look_up("eth_getTransactionReceipt", [tx_hash])
            if receipt is not None:
                if int(receipt["status"], 16) != 1:
                    raise TransactionReverted(tx_hash)
                return
            if time.monotonic() >= deadline:
                raise WaitTimeout(f"Transaction {tx_hash} was not mined within {timeout_s} s. It may still be.")
            await self._io.sleep(poll_s)

    def _send(self, signer: Signer, to: str, data: str, chain_id: int, gas: int | None, once: bool) -> str:
        key = (chain_id, signer.address, to.lower() + data.lower())
        with _locks[chain_id, signer.address]:
            if once and key in _heard:
                return hash_of(_sent[key])
            earlier = raw = _sent.get(key) if once else None
            if raw is None:
                # Whoever stands behind an address may change, and this is the last look before a signature.
                _expect_chain(chain_id, int(self._read("eth_chainId", []), 16))
                raw = self._prepare(signer, to, data, chain_id, gas).signed(signer)
                _remember(key, raw)
            try:
                tx_hash = self._broadcast(raw, may_be_heard=earlier is not None)
            except NodeError:
                # The node has refused these bytes the first time, so nothing of them can be mined.
                _sent.pop(key, None)
                raise
            _heard.add(key)
            return tx_hash

    def _prepare(self, signer: Signer, to: str, data: str, chain_id: int, gas: int | None) -> Transaction:
        nonce = int(self._read("eth_getTransactionCount", [signer.address, "pending"]), 16)
        if gas is None:
            call = {"from": signer.address, "to": to, "data": data, "value": "0x0"}
            gas = int(self._read("eth_estimateGas", [call]), 16) * 5 // 4
        base_fee = int(self._read("eth_getBlockByNumber", ["latest", False])["baseFeePerGas"], 16)
        priority = int(self._read("eth_maxPriorityFeePerGas", []), 16)
        # Twice the base fee stays enough for six full blocks in a row; the rest is not charged.
        return Transaction(chain_id, nonce, priority, 2 * base_fee + priority, gas, to, data)

    def _broadcast(self, raw: str, may_be_heard: bool) -> str:
        """Sends signed bytes. Where the answer is lost they are sent again, which can't do anything twice.

        Raises `NodeError` when they are surely not sent. Once an attempt may have been heard, no later refusal says so.
        """
        tx_hash = hash_of(raw)
        for attempt in range(1, TRIES + 1):
            try:
                self._ask("eth_sendRawTransaction", [raw])
                return tx_hash
            except NetworkError:
                if attempt == TRIES:
                    raise
                may_be_heard = True
                time.sleep(PAUSE_S)
            except NodeError as refusal:
                # "Already known" and its many other names: an attempt before was heard after all.
                try:
                    found = self._read("eth_getTransactionByHash", [tx_hash])
                except (NetworkError, NodeError):
                    found, may_be_heard = None, True
                if found is not None:
                    return tx_hash
                if not may_be_heard:
                    raise
                raise NetworkError(
                    f"Transaction {tx_hash} may have been sent, although the last answer says: {refusal}. "
                    "Look whether it was mined before you repeat it."
                ) from refusal
        raise AssertionError("unreachable")

    async def _look_up(self, method: str, params: list[Any]) -> Any:
        return await self._io.run(partial(self._read, method, params))

    def _read(self, method: str, params: list[Any]) -> Any:
        """Asks for what changes nothing, and so again where the answer is lost."""
        for attempt in range(1, TRIES + 1):
            try:
                return self._ask(method, params)
            except NetworkError:
                if attempt == TRIES:
                    raise
                time.sleep(PAUSE_S)
        raise AssertionError("unreachable")

    def _ask(self, method: str, params: list[Any]) -> Any:
        body = json.dumps({"jsonrpc": "2.0", "id": next(self._ids), "method": method, "params": params}).encode()
        answer = self._http.send("POST", "", {"content-type": "application/json"}, body)
        try:
            content = json.loads(answer.body)
            refusal = content.get("error")
            if refusal is None:
                return content["result"]
            failure = NodeError(method, str(refusal.get("message")), refusal.get("code"))
        except (ValueError, KeyError, AttributeError) as error:
            raise NetworkError(f"The node answered {method} with status {answer.status} and no JSON-RPC.") from error
        raise failure


def _expect_chain(expected: int, found: int) -> None:
    if found != expected:
        raise ConfigError(
            f"rpc_url is a node of chain {found}, and this client trades on chain {expected}: give it one of that."
        )


def _remember(key: _Key, raw: str) -> None:
    _sent[key] = raw
    if len(_sent) > MAX_REMEMBERED:
        oldest, _ = _sent.popitem(last=False)
        _heard.discard(oldest)
