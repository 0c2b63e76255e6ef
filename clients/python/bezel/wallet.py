"""The methods that take the trader's wallet: agents, delegation, read-only keys and approvals."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, Literal, TypedDict, Union, cast

from .abi import Function
from .base import POLL_S, WAIT_S, AsyncBase
from .contracts import DIAMOND
from .decimals import plain, units
from .errors import ConfigError, UnverifiedTransaction
from .signing import (
    Signer,
    address_of,
    api_key_digest,
    authorization_digest,
    revocation_digest,
    same_address,
    signature_text,
)
from .types import AgentAnswer, AgentScope, ApiKeyAnswer, CreateAgentRequest, Numeric

FULL_SCOPE: AgentScope = {
    "markets": "all",
    "maxLeverage": None,
    "dailySpendCapUsd": None,
    "expiresAt": None,
    "permissions": "trade",
}
"""The scope without any limit."""


class ScopeLimits(TypedDict, total=False):
    """Limits of an agent. One that is left out does not apply."""

    markets: Union[Literal["all"], list[str]]
    """Markets that the agent may trade. Default all."""
    maxLeverage: Union[Numeric, None]
    """Greatest leverage of what the agent opens or changes."""
    dailySpendCapUsd: Union[Numeric, None]
    """Most notional in USD that the agent may open in one UTC day."""
    expiresAt: Union[int, None]
    """Time in epoch milliseconds from which the agent is refused. Default never."""
    permissions: Literal["trade", "read"]
    """`read` lets the agent read only. Default `trade`."""


APPROVE = Function("approve(address,uint256)")


class AsyncWallet(AsyncBase):
    """The methods that take the trader's wallet. Everything else is done by the agent."""

    _last_timestamp = 0

    async def authorize(
        self,
        wallet: Signer,
        *,
        name: str = "",
        scope: ScopeLimits | Mapping[str, Any] | None = None,
        agent: Signer | str | None = None,
    ) -> AgentAnswer:
        """Registers an agent for the wallet that signs, or replaces its name and scope.

        `scope` limits the agent: `markets`, `maxLeverage`, `dailySpendCapUsd`, `expiresAt`, `permissions`. A limit that
        is left out does not apply, and without `scope` there is none. `agent` is by default the client's own. A key
        signs too, which proves that it is yours and takes it over from any other trader. Where the wallet's key is on
        another machine than the agent's, pass the agent's address there. A wallet that is not the client's trader is a
        `ConfigError`: the agent would leave the trader that it serves.
        """
        _expect_trader(self.caller.named_trader, wallet)
        own = self._agent() if agent is None else agent
        limits = _whole_scope(scope or {})
        # The timestamp comes last: the domain may be waited for, and the service takes only fresh ones.
        address, domain, timestamp = address_of(own), await self.caller.domain(), self._timestamp()
        digest = authorization_digest(domain, agent=address, name=name, scope=limits, timestamp=timestamp)
        body: CreateAgentRequest = {
            "trader": wallet.address,
            "agent": address,
            "name": name,
            "scope": limits,
            "timestamp": timestamp,
            "signature": signature_text(wallet.sign(digest)),
        }
        if not isinstance(own, str):
            body["agentSignature"] = signature_text(own.sign(digest))
        return await self.api.create_agent(body)

    async def delegate(
        self,
        wallet: Signer,
        *,
        agent: Signer | str | None = None,
        timeout_s: float = WAIT_S,
        poll_s: float = POLL_S,
    ) -> str | None:
        """Makes the agent the wallet's delegate on the chain, and waits until the service sees it.

        `agent` is by default the client's own; its address is enough. Returns the hash, or `None` when it was the
        delegate already.
        """
        _expect_trader(self.caller.named_trader, wallet)
        address = self._address(agent)
        answer = await self.api.get_agent(address)
        _expect_trader(answer["agent"]["trader"], wallet)
        transaction = answer["delegationTx"]
        if answer["agent"]["status"] != "pending_delegation" or transaction is None:
            return None
        data = DIAMOND["setTradingDelegate"].encode(address)
        tx_hash = await self._send_own(wallet, transaction, data)
        patience = self._patience(f"The service's view of delegation {tx_hash}", timeout_s, poll_s)
        while (await self.api.get_agent(address))["agent"]["status"] == "pending_delegation":
            await patience.pause()
        return tx_hash

    async def revoke(self, wallet: Signer, agent: Signer | str | None = None) -> str | None:
        """Revokes an agent at the service, at once, then on the chain. Returns the hash; `None` without delegation.

        `agent` is by default the client's own; its address is enough.
        """
        _expect_trader(self.caller.named_trader, wallet)
        address = self._address(agent)
        domain, timestamp = await self.caller.domain(), self._timestamp()
        signature = signature_text(wallet.sign(revocation_digest(domain, agent=address, timestamp=timestamp)))
        answer = await self.api.revoke_agent(
            address, {"trader": wallet.address, "timestamp": timestamp, "signature": signature}
        )
        transaction = answer["revocationTx"]
        if transaction is None or self._node is None:
            return None
        return await self._send_own(wallet, transaction, DIAMOND["removeTradingDelegate"].encode())

    async def issue_api_key(self, wallet: Signer, label: str) -> ApiKeyAnswer:
        """Issues a read-only key, which is shown once. Issuing again under the same label replaces it."""
        _expect_trader(self.caller.named_trader, wallet)
        domain, timestamp = await self.caller.domain(), self._timestamp()
        signature = signature_text(wallet.sign(api_key_digest(domain, label=label, timestamp=timestamp)))
        return await self.api.issue_api_key(
            {"trader": wallet.address, "label": label, "timestamp": timestamp, "signature": signature}
        )

    async def approve(self, wallet: Signer, collateral: str, amount: Numeric) -> str:
        """Lets the Diamond take this much of a token from the wallet, and returns the hash once it is mined.

        The transaction is made here, from the token that the market lists and the Diamond that is trusted.
        """
        _expect_trader(self.caller.named_trader, wallet)
        node, domain = await self._chain_node(), await self.caller.domain()
        token = await self._gatherer.token(collateral)
        data = APPROVE.encode(domain["verifyingContract"], units(amount, token["decimals"]))
        tx_hash = await node.send(
            wallet, to=token["address"], data="0x" + data.hex(), chain_id=domain["chainId"], gas=None
        )
        return await self._mined(tx_hash)

    async def _send_own(self, wallet: Signer, transaction: Mapping[str, Any], data: bytes) -> str:
        """Sends a transaction of the wallet, whose every byte is known before the service says it."""
        node, domain = await self._chain_node(), await self.caller.domain()
        for field, expected, found in (
            ("to", domain["verifyingContract"].lower(), transaction["to"].lower()),
            ("chainId", domain["chainId"], transaction["chainId"]),
            ("data", "0x" + data.hex(), transaction["data"].lower()),
        ):
            if expected != found:
                raise UnverifiedTransaction(field, expected, found)
        tx_hash = await node.send(
            wallet, to=transaction["to"], data=transaction["data"], chain_id=domain["chainId"], gas=None
        )
        return await self._mined(tx_hash)

    def _address(self, agent: Signer | str | None) -> str:
        return address_of(self._agent() if agent is None else agent)

    def _timestamp(self) -> int:
        """Returns a timestamp for a struct of a wallet, each later than the one before, since they have no nonce."""
        self._last_timestamp = max(time.time_ns() // 1_000_000, self._last_timestamp + 1)
        return self._last_timestamp


def _whole_scope(given: Mapping[str, Any]) -> AgentScope:
    """Returns the scope with every limit, whose numbers are the text that is signed."""
    amounts = {
        field: plain(given[field])
        for field in ("maxLeverage", "dailySpendCapUsd")
        if given.get(field) is not None and not isinstance(given[field], str)
    }
    return cast(AgentScope, {**FULL_SCOPE, **given, **amounts})


def _expect_trader(trader: str | None, wallet: Signer) -> None:
    """Raises `ConfigError` when another wallet than the trader's is about to send what only the trader's can do."""
    if trader is not None and not same_address(trader, wallet.address):
        raise ConfigError(f"The trader is {trader}, and the wallet is {wallet.address}: pass the trader's own wallet.")
