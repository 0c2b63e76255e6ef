"""The parts that every method of a client uses: calls, the node, and waiting."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable

from .api import AsyncApi
from .calls import Caller, Io, Result, Threads
from .errors import BezelError, ConfigError
from .gather import Gatherer
from .http import Http
from .node import Node
from .settle import Patience
from .signing import Signer, SigningDomain

WAIT_S = 90.0
POLL_S = 0.5


class AsyncBase:
    """The connections and credentials of a client."""

    def __init__(
        self,
        base_url: str,
        *,
        chain: str = "arbitrum-sepolia",
        agent: Signer | None = None,
        trader: str | None = None,
        api_key: str | None = None,
        rpc_url: str | None = None,
        diamond: str | None = None,
        signing: SigningDomain | None = None,
        header_prefix: str = "X-Service-",
        timeout_s: float = 30.0,
        max_retries: int = 2,
        io: Io | None = None,
    ) -> None:
        """Makes a client. It connects with its first call.

        `agent` signs requests and transactions; `trader` is the address of the wallet that holds the account, by
        default the agent's own. `api_key` is for clients that only read. `rpc_url` is a node of the chain, which
        transactions are sent through and checked with. `diamond` is the Diamond that is trusted, by default the live
        one of the chain; `signing` pins the whole signing domain. `timeout_s` is for one attempt; what may be repeated
        safely is repeated `max_retries` times.
        """
        self._io: Io = io or Threads()
        self.caller = Caller(
            io=self._io,
            http=Http(base_url, timeout_s),
            chain=chain,
            agent=agent,
            api_key=api_key,
            trader=trader,
            signing=signing,
            diamond=diamond,
            header_prefix=header_prefix,
            max_retries=max_retries,
        )
        self.api = AsyncApi(self.caller)
        """Every operation of the interface, one method each. Its writes only prepare."""
        self._node = None if rpc_url is None else Node(self._io, rpc_url, timeout_s)
        self._gatherer = Gatherer(self.caller, self.api, self._node)

    async def close(self) -> None:
        """Closes the connections that are kept."""
        self._io.close()
        self.caller.http.close()
        if self._node is not None:
            self._node.close()

    async def _mined(self, tx_hash: str | None) -> str:
        if tx_hash is None:
            raise ConfigError("There was nothing to send.")
        await self._require_node().wait_for_receipt(tx_hash, timeout_s=WAIT_S, poll_s=POLL_S)
        return tx_hash

    def _patience(self, what: str, timeout_s: float = WAIT_S, poll_s: float = POLL_S) -> Patience:
        return Patience(self._io, what, timeout_s=timeout_s, poll_s=poll_s)

    async def _persistently(self, read: Callable[[], Awaitable[Result]], deadline: float, pause_s: float) -> Result:
        """Reads again after an error that passes, until the deadline."""
        while True:
            try:
                return await read()
            except BezelError as error:
                if not error.retryable or time.monotonic() >= deadline:
                    raise
            await self._io.sleep(pause_s)

    def _agent(self) -> Signer:
        if self.caller.agent is None:
            raise ConfigError("This client has no agent: give it agent=, the key that signs what it writes.")
        return self.caller.agent

    async def _ready(self) -> tuple[Signer, Node]:
        """Returns the agent and the node of a write, which are known to fit before anything is prepared."""
        agent = self._agent()
        return agent, await self._chain_node()

    async def _chain_node(self) -> Node:
        """Returns the node, which is one of the chain that this client trades on."""
        node = self._require_node()
        await node.require_chain((await self.caller.domain())["chainId"])
        return node

    def _require_node(self) -> Node:
        if self._node is None:
            raise ConfigError("This client has no node: give it rpc_url, which transactions are sent through.")
        return self._node
