"""`Client`, which has the methods of `AsyncClient` and blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import TracebackType
from typing import Any

from .api import Api
from .base import POLL_S, WAIT_S
from .calls import Blocking, run_now
from .client import AsyncClient
from .ending import Ended
from .feed import Feed, follow_log
from .pages import all_of_now
from .signing import Signer, SigningDomain
from .stream import Status, Topics, listen
from .types import (
    AccountEvent,
    AgentAnswer,
    ApiKeyAnswer,
    ClosePositionRequest,
    CreateOrderRequest,
    Fill,
    FillHistoryEntry,
    Numeric,
    Order,
    OrderPreview,
    Position,
    PositionPreview,
    StreamMessage,
    UpdateOrderRequest,
    UpdatePositionRequest,
)
from .wallet import ScopeLimits
from .writes import ENDED


class Client:
    """A client that blocks. `AsyncClient` has the same methods, to be awaited."""

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
    ) -> None:
        """Makes a client. It connects with its first call.

        `agent` signs requests and transactions; `trader` is the address of the wallet that holds the account, by
        default the agent's own. `api_key` is for clients that only read. `rpc_url` is a node of the chain, which
        transactions are sent through and checked with. `diamond` is the Diamond that is trusted, by default the live
        one of the chain; `signing` pins the whole signing domain. `timeout_s` is for one attempt; what may be repeated
        safely is repeated `max_retries` times.
        """
        self._inner = AsyncClient(
            base_url,
            chain=chain,
            agent=agent,
            trader=trader,
            api_key=api_key,
            rpc_url=rpc_url,
            diamond=diamond,
            signing=signing,
            header_prefix=header_prefix,
            timeout_s=timeout_s,
            max_retries=max_retries,
            io=Blocking(),
        )
        self.caller = self._inner.caller
        self.api = Api(self.caller)
        """Every operation of the interface, one method each. Its writes only prepare."""

    def close(self) -> None:
        """Closes the connections that are kept."""
        run_now(self._inner.close())

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def open_order(self, body: CreateOrderRequest, *, expected_price: Numeric | None = None) -> Order:
        """Places an order: prepares it, checks the transaction, signs and sends it, and reports its hash.

        Returns the order as it is then, usually `prepared`, `pending` or `open`: see `wait_for_fill`. Use a `clientId`,
        and a lost answer is asked for again and never placed twice.
        """
        return run_now(self._inner.open_order(body, expected_price=expected_price))

    def change_order(self, id: str, body: UpdateOrderRequest, *, expected_price: Numeric | None = None) -> Order:
        """Changes a resting order, and returns it once the change is mined."""
        return run_now(self._inner.change_order(id, body, expected_price=expected_price))

    def cancel_order(self, id: str) -> Order:
        """Cancels a resting order, reclaims a timed-out one, or withdraws one that was only prepared.

        Returns the order once that is mined: `canceled`, or `filled` when it was filled just before.
        """
        return run_now(self._inner.cancel_order(id))

    def close_position(
        self, id: str, body: ClosePositionRequest | None = None, *, expected_price: Numeric | None = None
    ) -> Order:
        """Closes a position, or the part that `size` says, and returns the order that does it."""
        return run_now(self._inner.close_position(id, body, expected_price=expected_price))

    def change_position(
        self, id: str, body: UpdatePositionRequest, *, timeout_s: float = WAIT_S, poll_s: float = POLL_S
    ) -> Position:
        """Changes stops, leverage or collateral of a position, and returns it once the change is in force.

        Stops change with the transaction. Leverage and collateral wait for the oracle, and what they take from the
        wallet is locked until it answers; a refusal is `PositionUpdateRefused`.
        """
        return run_now(self._inner.change_position(id, body, timeout_s=timeout_s, poll_s=poll_s))

    def cancel_position_update(self, id: str) -> Position:
        """Reclaims a change of a position that the oracle never answered, and returns the position without it."""
        return run_now(self._inner.cancel_position_update(id))

    def cancel_all(
        self,
        *,
        market: str | None = None,
        wait: bool = False,
        timeout_s: float = WAIT_S,
        poll_s: float = POLL_S,
    ) -> Ended:
        """Cancels all orders, of one market or of all: resting, timed out and prepared ones.

        Returns when the transactions are mined. What can't be ended is named in `left_out`, and never holds up the
        others. With `wait` it repeats itself until no order is left, and raises `BatchNotDone` after `timeout_s`.
        """
        return run_now(self._inner.cancel_all(market=market, wait=wait, timeout_s=timeout_s, poll_s=poll_s))

    def close_all(
        self,
        *,
        market: str | None = None,
        slippage: Numeric | None = None,
        wait: bool = False,
        timeout_s: float = WAIT_S,
        poll_s: float = POLL_S,
    ) -> Ended:
        """Closes all positions, of one market or of all.

        Returns when the transactions are mined, and `orders` are the closes, which the oracle fills a moment later.
        What can't be ended is named in `left_out`. With `wait` it repeats itself until no position is left, and raises
        `BatchNotDone` after `timeout_s`.
        """
        return run_now(
            self._inner.close_all(market=market, slippage=slippage, wait=wait, timeout_s=timeout_s, poll_s=poll_s)
        )

    def flatten(
        self,
        *,
        market: str | None = None,
        slippage: Numeric | None = None,
        wait: bool = False,
        timeout_s: float = WAIT_S,
        poll_s: float = POLL_S,
    ) -> Ended:
        """Cancels all orders, then closes all positions, of one market or of all.

        Returns when the transactions are mined: orders are cancelled then, and the oracle fills the closes a moment
        later. What changes meanwhile is read and tried again, and what can't be ended is named in `left_out`. With
        `wait` it returns once the account is flat: it waits for the closes, repeats itself for what is left, such as a
        close that the contracts refused, and raises `BatchNotDone` after `timeout_s`.
        """
        return run_now(
            self._inner.flatten(market=market, slippage=slippage, wait=wait, timeout_s=timeout_s, poll_s=poll_s)
        )

    def position(self, id: str) -> Position:
        """Returns an open position of the trader. Raises `PositionNotFound` when there is none."""
        return run_now(self._inner.position(id))

    def wait_for_order(
        self, id: str, statuses: tuple[str, ...] = ENDED, *, timeout_s: float = WAIT_S, poll_s: float = POLL_S
    ) -> Order:
        """Waits until an order has one of the statuses, by default until it has ended.

        A timed-out one counts as ended, although a late answer may still fill it. Raises `WaitTimeout` after
        `timeout_s`.
        """
        return run_now(self._inner.wait_for_order(id, statuses, timeout_s=timeout_s, poll_s=poll_s))

    def wait_for_fill(self, id: str, *, timeout_s: float = WAIT_S, poll_s: float = POLL_S) -> Fill:
        """Waits for the fill of an order, and returns it.

        Raises `OrderNotFilled` when the order ends without one or the oracle does not answer it in time, which
        `cancel_order` then reclaims, and `WaitTimeout` after `timeout_s`, when the order goes on by itself.
        """
        return run_now(self._inner.wait_for_fill(id, timeout_s=timeout_s, poll_s=poll_s))

    def preview_order(
        self, body: CreateOrderRequest, *, simulate: bool = False, agent: str | None = None
    ) -> OrderPreview:
        """Says what an order would cost and do now, without making it. Takes what `open_order` takes.

        `missing` lists what is not there yet: balance, allowance, delegation or a right of the agent, each with its
        remedy. `simulate` asks the contracts too. `agent` is the one whose rights are judged, by default the client's.
        """
        return run_now(self._inner.preview_order(body, simulate=simulate, agent=agent))

    def preview_close(
        self,
        id: str,
        body: ClosePositionRequest | None = None,
        *,
        simulate: bool = False,
        agent: str | None = None,
    ) -> OrderPreview:
        """Says what the close of a position would pay and cost now. Takes what `close_position` takes."""
        return run_now(self._inner.preview_close(id, body, simulate=simulate, agent=agent))

    def preview_position(
        self, id: str, body: UpdatePositionRequest, *, simulate: bool = False, agent: str | None = None
    ) -> PositionPreview:
        """Says what a change of a position would cost and make of it now. Takes what `change_position` takes."""
        return run_now(self._inner.preview_position(id, body, simulate=simulate, agent=agent))

    def all_fills(self, *, page_size: int = 500) -> Iterator[FillHistoryEntry]:
        """Yields every execution of the account, newest first, page after page."""
        return all_of_now(self.api.list_fills, page_size)

    def all_orders(self, *, page_size: int = 500) -> Iterator[Order]:
        """Yields every order of the account, those that ended too, newest first, page after page."""
        return all_of_now(self.api.list_order_history, page_size)

    def authorize(
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
        return run_now(self._inner.authorize(wallet, name=name, scope=scope, agent=agent))

    def delegate(
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
        return run_now(self._inner.delegate(wallet, agent=agent, timeout_s=timeout_s, poll_s=poll_s))

    def revoke(self, wallet: Signer, agent: Signer | str | None = None) -> str | None:
        """Revokes an agent at the service, at once, then on the chain. Returns the hash; `None` without delegation.

        `agent` is by default the client's own; its address is enough.
        """
        return run_now(self._inner.revoke(wallet, agent))

    def issue_api_key(self, wallet: Signer, label: str) -> ApiKeyAnswer:
        """Issues a read-only key, which is shown once. Issuing again under the same label replaces it."""
        return run_now(self._inner.issue_api_key(wallet, label))

    def approve(self, wallet: Signer, collateral: str, amount: Numeric) -> str:
        """Lets the Diamond take this much of a token from the wallet, and returns the hash once it is mined.

        The transaction is made here, from the token that the market lists and the Diamond that is trusted.
        """
        return run_now(self._inner.approve(wallet, collateral, amount))

    def stream(
        self,
        topics: Topics,
        *,
        from_seq: int | Mapping[str, int] | None = None,
        on_status: Callable[[Status], None] | None = None,
    ) -> Feed[StreamMessage]:
        """Listens to channels: `prices`, `Topic("book", "BTC/USD")`, `orders` and so on, over lost connections.

        Private channels with `from_seq` (one number, or one for each channel) go on where an earlier program ended;
        without it they begin with a snapshot.
        """
        return Feed(lambda: listen(self.caller, topics, from_seq, on_status))

    def events(self, after: int | None = 0) -> Feed[AccountEvent]:
        """Follows the account's log in the order of `seq`, each event once: orders, fills, positions and account.

        `after` is the last event that you have; `None` begins with what happens from now on.
        """
        return Feed(lambda: follow_log(self.caller, self._inner.api, after))
