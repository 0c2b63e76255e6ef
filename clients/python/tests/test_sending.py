"""Nodes that lose answers, batches that do more than was asked, and changes that the oracle refuses."""

import json
import threading
import unittest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import bezel.node
import bezel.writes
from bezel import (
    AsyncClient,
    ConfigError,
    NodeError,
    PositionUpdateRefused,
    PrivateKey,
    TransactionReverted,
    WaitTimeout,
)
from bezel.batch import verify_batch
from bezel.calls import Blocking, run_now
from bezel.contracts import DIAMOND, PENDING_ORDER_TYPES
from bezel.errors import NetworkError, UnverifiedTransaction
from bezel.facts import ChainFacts, CollateralFacts, Facts, MarketFacts, PendingFacts, TradeFacts
from bezel.node import Node
from bezel.settle import Patience, order_changed, position_changed
from bezel.transactions import hash_of

KEY = PrivateKey(9)
TO = "0x" + "d1" * 20
TRADER = "0x" + "12" * 20
CLOSE, OPEN = PENDING_ORDER_TYPES["MARKET_CLOSE"], PENDING_ORDER_TYPES["MARKET_OPEN"]


class StandInNode:
    """A node whose answers a test can change, and that can lose those to transactions."""

    def __init__(self) -> None:
        self.sent: list[str] = []
        self.known: set[str] = set()
        self.refused: set[str] = set()
        """Methods that the node refuses."""
        self.refusal: Any = {"code": 3, "message": "no money"}
        self.hides = False
        """True for a node that does not find transactions that it has heard, as one of several behind an address."""
        self.lost = 0
        """Answers to transactions that are lost: the transaction is heard all the same."""
        self.answers: dict[str, Any] = {
            "eth_chainId": "0x7",
            "eth_estimateGas": "0x186a0",
            "eth_getBlockByNumber": {"baseFeePerGas": "0x64"},
            "eth_maxPriorityFeePerGas": "0x3",
            "eth_getTransactionReceipt": {"status": "0x1"},
        }
        node = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
                answer = node.answer(asked["method"], asked["params"])
                if answer is None:
                    return self.connection.close()
                text = json.dumps({"jsonrpc": "2.0", "id": asked["id"], **answer}).encode()
                self.send_response(200)
                self.send_header("content-length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)
                return None

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def answer(self, method: str, params: list[Any]) -> dict[str, Any] | None:
        if method in self.refused:
            return {"error": self.refusal}
        if method == "eth_getTransactionCount":
            return {"result": hex(len(self.known))}
        if method == "eth_getTransactionByHash":
            return {"result": {} if params[0] in self.known and not self.hides else None}
        if method != "eth_sendRawTransaction":
            return {"result": self.answers[method]}
        self.sent.append(params[0])
        tx_hash = hash_of(params[0])
        is_known = tx_hash in self.known
        self.known.add(tx_hash)
        if self.lost > 0:
            self.lost -= 1
            return None
        return {"error": {"code": -32000, "message": "already known"}} if is_known else {"result": tx_hash}

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


class Sending(unittest.TestCase):
    def setUp(self) -> None:
        self.stand_in = StandInNode()
        self.addCleanup(self.stand_in.close)
        self.node = Node(Blocking(), self.stand_in.url, 5)
        bezel.node.PAUSE_S = 0.01
        bezel.node._sent.clear()
        bezel.node._heard.clear()

    def send(self, data: str = "0x01", **more: Any) -> str:
        return run_now(self.node.send(KEY, to=TO, data=data, chain_id=7, gas=100, **more))

    def test_a_lost_answer_is_no_second_transaction(self) -> None:
        self.stand_in.lost = 2
        tx_hash = self.send()
        self.assertEqual(len(set(self.stand_in.sent)), 1)
        self.assertEqual(self.stand_in.known, {tx_hash})

    def test_a_node_that_never_answers_is_an_error(self) -> None:
        self.stand_in.lost = 3
        with self.assertRaises(NetworkError):
            self.send(once=True)
        # Heard or not, a repeat sends the same bytes: another signature could trade twice.
        tx_hash = self.send(once=True)
        self.assertEqual((len(self.stand_in.sent), self.stand_in.known), (4, {tx_hash}))

    def test_a_refusal_after_a_lost_answer_leaves_the_outcome_open(self) -> None:
        for data, hides, refused in (("0x05", True, set()), ("0x06", False, {"eth_getTransactionByHash"})):
            self.stand_in.sent.clear()
            self.stand_in.lost, self.stand_in.hides, self.stand_in.refused = 1, hides, refused
            for _ in range(2):
                # The repeat is refused at once, and what was lost before may still be mined.
                with self.assertRaisesRegex(NetworkError, "0x[0-9a-f]{64} may have been sent.*already known"):
                    self.send(data, once=True)
            self.stand_in.hides, self.stand_in.refused = False, set()
            self.assertIn(self.send(data, once=True), self.stand_in.known)
            self.assertEqual((len(self.stand_in.sent), len(set(self.stand_in.sent))), (4, 1))

    def test_an_answer_of_a_gateway_is_no_refusal(self) -> None:
        self.stand_in.refused = {"eth_sendRawTransaction"}
        for refusal in ("Too many requests", None):
            self.stand_in.refusal = refusal
            with self.assertRaises(NetworkError):
                self.send(once=True)

    def test_a_prepared_transaction_is_sent_once_in_a_process(self) -> None:
        self.assertEqual(self.send(once=True), self.send(once=True))
        self.assertNotEqual(self.send("0x02", once=True), self.send("0x03", once=True))
        self.assertEqual(len(self.stand_in.sent), 3)

    def test_another_chain_is_noticed_before_anything_is_signed(self) -> None:
        self.stand_in.answers["eth_chainId"] = "0x8"
        with self.assertRaisesRegex(ConfigError, "chain 8"):
            self.send()
        self.assertEqual(self.stand_in.sent, [])

    def test_another_chain_is_noticed_before_anything_is_prepared(self) -> None:
        node = self.stand_in.url
        client: Any = AsyncClient("http://127.0.0.1:1", chain="base", agent=KEY, rpc_url=node, io=Blocking())
        prepared: list[Any] = []

        async def domain() -> Any:
            return {"name": "T", "version": "1", "chainId": 8453, "verifyingContract": TO}

        async def prepare(*args: Any, **_: Any) -> None:
            prepared.append(args)

        client.caller.domain = domain
        client.api.create_order = client.api.flatten = client.api.list_open_orders = prepare
        for write in (client.open_order({}), client.flatten(), client.approve(KEY, "USDC", "1")):
            with self.assertRaisesRegex(ConfigError, "node of chain 7, and this client trades on chain 8453"):
                run_now(write)
        self.assertEqual((prepared, self.stand_in.sent), ([], []))

    def test_an_order_that_was_surely_not_sent_is_withdrawn(self) -> None:
        client: Any = AsyncClient("http://127.0.0.1:1", chain="base", agent=KEY, io=Blocking())
        transaction = {"to": TO, "data": "0x04", "chainId": 7, "gas": None, "expiresAt": 2**53}
        withdrawn: list[str] = []

        async def ready() -> Any:
            return KEY, self.node

        async def facts(*_: Any) -> None:
            pass

        async def prepare(_: Any) -> Any:
            return {"order": {"id": "3", "txHash": None}, "transaction": transaction}

        async def cancel(id: str) -> None:
            withdrawn.append(id)

        client._ready, client._gatherer.facts = ready, facts
        client.api.create_order, client.api.cancel_order = prepare, cancel
        self.addCleanup(setattr, bezel.writes, "verify_prepared", bezel.writes.verify_prepared)
        bezel.writes.verify_prepared = lambda *_: None
        self.stand_in.refused = {"eth_estimateGas"}
        for body, expected in (({}, ["3"]), ({"clientId": "a"}, [])):
            withdrawn.clear()
            with self.assertRaisesRegex(NodeError, "eth_estimateGas"):
                run_now(client.open_order(body))
            self.assertEqual(withdrawn, expected)
        # Whatever is said of a repeat, the first attempt may have been heard.
        self.stand_in.refused, self.stand_in.lost, self.stand_in.hides = set(), 1, True
        withdrawn.clear()
        with self.assertRaises(NetworkError):
            run_now(client.open_order({}))
        self.assertEqual((withdrawn, len(self.stand_in.known)), ([], 1))

    def test_a_refusal_of_the_node_is_told(self) -> None:
        self.stand_in.refused = {"eth_sendRawTransaction"}
        with self.assertRaisesRegex(NodeError, "no money"):
            self.send(once=True)
        self.stand_in.refused = set()
        self.assertIn(self.send(once=True), self.stand_in.known)
        # Without a look at the chain a refusal may be that of bytes which are known.
        self.stand_in.refused = {"eth_sendRawTransaction", "eth_getTransactionByHash"}
        with self.assertRaisesRegex(NetworkError, "may have been sent.*no money"):
            self.send("0x02", once=True)

    def test_a_receipt_is_waited_for(self) -> None:
        run_now(self.node.wait_for_receipt("0x1", timeout_s=1, poll_s=0.01))
        self.stand_in.answers["eth_getTransactionReceipt"] = {"status": "0x0"}
        with self.assertRaises(TransactionReverted):
            run_now(self.node.wait_for_receipt("0x1", timeout_s=1, poll_s=0.01))
        self.stand_in.answers["eth_getTransactionReceipt"] = None
        with self.assertRaises(WaitTimeout):
            run_now(self.node.wait_for_receipt("0x1", timeout_s=0.03, poll_s=0.01))


def position(id: str, index: int) -> tuple[Any, TradeFacts]:
    """Returns a position of 0.05 BTC at 60,000 with leverage 10, as the service and the chain tell of it."""
    told = {
        "id": id,
        "market": "BTC/USD",
        "side": "long",
        "size": "0.05",
        "collateral": "300",
        "collateralSymbol": "USDC",
        "leverage": "10",
        "entryPrice": "60000",
        "markPrice": "60100",
        "sl": f"{50_000 + index}",
        "tp": "0",
        "pendingUpdate": None,
    }
    stop = (50_000 + index) * 10**10
    trade = TradeFacts(index, 0, True, 3, 0, 300_000_000, 10_000, 60_000 * 10**10, 0, stop, 0, 5 * 10**16)
    return told, trade


class Batches(unittest.TestCase):
    def setUp(self) -> None:
        (self.one, first), (self.other, second) = position("7", 2), position("8", 3)
        resting = TradeFacts(4, 0, True, 3, 1, 1, 10_000, 50_000 * 10**10, 0, 0, 0, None)
        # Requests of three closes that nobody answered, and of an opening.
        waiting = [PendingFacts(index, 0, trade, True, CLOSE) for index, trade in ((5, 2), (6, 3), (7, 2))]
        waiting.append(PendingFacts(8, 0, 0, True, OPEN))
        self.facts = Facts(
            diamond=TO,
            chain_id=7,
            trader=TRADER,
            sender=KEY.address,
            market=MarketFacts("BTC/USD", 0, 5, "4.5"),
            collateral=CollateralFacts("USDC", 3, 6, "1", "0.5"),
            expected_price="60100",
            on_chain=ChainFacts((first, second, resting), tuple(waiting)),
        )
        common = {"market": "BTC/USD", "collateral": "USDC", "sl": None, "tp": None, "leverage": "10"}
        self.order = {**common, "id": "9", "side": "long", "type": "limit", "price": "50000", "reduceOnly": False}
        timed_out = {**common, "type": "market", "status": "timed_out"}
        self.late = [{**timed_out, "id": id, "side": "short", "reduceOnly": True} for id in ("10", "11")]
        self.late.append({**timed_out, "id": "12", "side": "long", "reduceOnly": False})
        self.closes = [
            {**common, "id": id, "side": "short", "type": "market", "reduceOnly": True, "status": "prepared"}
            for id in ("20", "21")
        ]

    def check(self, calls: list[bytes], told: list[Any], held: Any = None) -> None:
        inner = DIAMOND["multicall"].encode(calls) if len(calls) > 1 else calls[0]
        data = DIAMOND["delegatedTradingAction"].encode(TRADER, inner).hex() + "00000000000000a7"
        transaction = {"to": TO, "data": "0x" + data, "value": "0", "chainId": 7}
        answer = {"orders": told, "transaction": transaction}
        orders: Any = [self.order, *self.late]
        positions = [self.one, self.other] if held is None else held
        verify_batch(answer, orders, positions, None, lambda *_: self.facts)

    def test_reclaim_what_timed_out_each_by_its_own_calls(self) -> None:
        reclaims = [DIAMOND["cancelOrderAfterTimeout"].encode(index) for index in (5, 6, 7, 8)]
        close = DIAMOND["closeTradeMarket"].encode(2, 60_100 * 10**10)
        one, two, opening = self.late
        self.check([reclaims[0], reclaims[1], close], [one, two, self.closes[0]])
        self.check([reclaims[0], reclaims[3], close], [one, opening, self.closes[0]])
        # The first one closes two positions, so it waits for two answers.
        self.check([*reclaims[:3], close], [one, two, self.closes[0]])
        self.check(reclaims[1:3], [two])
        for calls, told in (
            (reclaims[:2], [one, opening]),
            (reclaims[:1], [one, two]),
            ([reclaims[1], reclaims[0]], [one]),
            ([reclaims[3]], [one]),
        ):
            with self.assertRaises(UnverifiedTransaction):
                self.check(calls, told)

    def test_need_a_transaction_where_something_is_to_end(self) -> None:
        def answer(*orders: Any) -> Any:
            return {"orders": list(orders), "transaction": None}

        check: Any = lambda of: verify_batch(of, [], [], None, lambda *_: self.facts)
        check(answer())
        check(answer({**self.order, "status": "expired"}))
        with self.assertRaises(UnverifiedTransaction):
            check(answer(self.closes[0]))

    def test_cancel_and_close_what_was_there(self) -> None:
        cancel = DIAMOND["cancelOpenOrder"].encode(4)
        closes = [DIAMOND["closeTradeMarket"].encode(index, 60_100 * 10**10) for index in (3, 2)]
        resting = {**self.order, "status": "open"}
        self.check([cancel, *closes], [{**self.order, "id": "1", "status": "expired"}, resting, *self.closes])

    def test_do_nothing_else(self) -> None:
        close = DIAMOND["closeTradeMarket"]
        right, price = close.encode(2, 60_100 * 10**10), 60_100 * 10**10
        # The chain confirms the price of the market, and not what the service says of each position.
        self.other["markPrice"] = "30050"
        for name, calls, told in (
            ("closes one position twice", [right, right], self.closes),
            ("closes another trade", [close.encode(4, price)], self.closes[:1]),
            ("takes any price", [close.encode(2, 1)], self.closes[:1]),
            ("closes a part", [DIAMOND["decreasePositionSize"].encode(2, 1, 0, price)], self.closes[:1]),
            ("does more than it says", [right, close.encode(3, price)], self.closes[:1]),
            ("does less than it says", [right], self.closes),
            ("moves a stop", [DIAMOND["updateSl"].encode(2, 0)], self.closes[:1]),
            ("names a new delegate", [right, DIAMOND["setTradingDelegate"].encode(TO)], self.closes),
            ("says nothing about it", [right], []),
            ("believes the price of one position", [close.encode(3, price // 2)], self.closes[:1]),
            ("calls it an opening", [right], [{**self.closes[0], "reduceOnly": False}]),
        ):
            with self.subTest(name), self.assertRaises(UnverifiedTransaction):
                self.check(calls, told)
        with self.assertRaises(UnverifiedTransaction):
            self.check([right], self.closes[:1], held=[])


class Service:
    """The log of an account as a test writes it."""

    def __init__(self, *states: Any) -> None:
        self.states = list(states)

    async def list_events(self, *, after: int) -> Any:
        events = [
            {"seq": seq, "channel": "positions", "data": [state]}
            for seq, state in enumerate(self.states, 1)
            if seq > after
        ]
        return {"data": events, "lastSeq": len(self.states)}

    async def list_positions(self) -> Any:
        return {"data": self.states[-1:]}

    async def get_order(self, id: str) -> Any:
        return self.states.pop(0)


class Settling(unittest.TestCase):
    def patience(self) -> Patience:
        return Patience(Blocking(), "The change", timeout_s=0.05, poll_s=0.01)

    def settle(self, *states: Any, is_asked: bool = True) -> Any:
        before, _ = position("7", 2)
        service: Any = Service(*({**before, **state} for state in states))
        return run_now(
            position_changed(
                service,
                before=before,
                prepared={**before, "sl": "57000"},
                tx_hash="0x1",
                after=0,
                is_asked=is_asked,
                patience=self.patience(),
            )
        )

    def test_a_change_is_in_force_when_the_oracle_has_answered(self) -> None:
        pending = {"pendingUpdate": {"status": "pending"}}
        self.assertEqual(self.settle(pending, {"leverage": "5"})["leverage"], "5")
        self.assertEqual(self.settle({"sl": "57000"}, is_asked=False)["sl"], "57000")

    def test_a_refusal_and_a_timeout_are_told(self) -> None:
        with self.assertRaises(PositionUpdateRefused):
            self.settle({"pendingUpdate": {"status": "pending"}}, {})
        with self.assertRaisesRegex(WaitTimeout, "cancel_position_update"):
            self.settle({"pendingUpdate": {"status": "timed_out"}})
        with self.assertRaisesRegex(WaitTimeout, "may still"):
            self.settle({"pendingUpdate": {"status": "pending"}})

    def test_an_order_is_compared_by_value(self) -> None:
        states = [{"status": "open", "price": price, "sl": None} for price in ("50000", "51000")]
        service: Any = Service(*states)
        body = {"price": "51000.00", "sl": "0"}
        changed = run_now(order_changed(service, "9", body, self.patience()))
        self.assertEqual(changed["price"], "51000")
