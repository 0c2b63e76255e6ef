"""Calls against a stand-in over a real socket: credentials, retries, errors."""

import asyncio
import json
import threading
import unittest
from collections.abc import Callable
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import bezel.calls
from bezel import ApiError, AsyncClient, Client, ConfigError, NetworkError, OrderNotFilled, PrivateKey
from bezel.calls import next_nonce
from bezel.refusals import (
    AgentNotDelegated,
    NotReady,
    PositionNotFound,
    RateLimited,
    ScopeMarketNotAllowed,
    TimestampOutOfWindow,
    TraderMismatch,
    ValidationError,
)

DIAMOND = "0x" + "d1" * 20
KEY = PrivateKey(5)
INFO = {
    "chain": "base",
    "chainId": 8453,
    "diamond": DIAMOND,
    "signing": {"domain": {"name": "T", "version": "1", "chainId": 8453, "verifyingContract": DIAMOND}},
}
NOT_READY = (503, {"code": "NOT_READY", "message": "a moment", "details": {"reason": "starting"}}, {})

Reply = tuple[int, Any, dict[str, str]] | None


class StandIn:
    """An HTTP server that answers what it is told, and remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str, dict[str, str], bytes]] = []
        self.replies: list[Reply] = []
        self.infos: list[Reply] = []
        """Answers to reads of the chain before the right one."""
        stand_in = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def serve(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length", 0)))
                if self.path == "/v1/base":
                    return self.reply(stand_in.infos.pop(0) if stand_in.infos else (200, INFO, {}))
                headers = {name.lower(): value for name, value in self.headers.items()}
                stand_in.asked.append((self.command, self.path, headers, body))
                return self.reply(stand_in.replies.pop(0))

            def reply(self, reply: Reply) -> None:
                if reply is None:  # The answer is lost.
                    self.close_connection = True
                    return self.connection.close()
                status, content, headers = reply
                text = content if isinstance(content, bytes) else json.dumps(content).encode()
                self.send_response(status)
                for name, value in {"content-length": str(len(text)), **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(text)
                return None

            do_GET = do_POST = do_PATCH = do_DELETE = serve

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


class Calls(unittest.TestCase):
    def setUp(self) -> None:
        self.service = StandIn()
        self.addCleanup(self.service.close)

    def client(self, **options: Any) -> Client:
        client = Client(self.service.url, **{"chain": "base", "diamond": DIAMOND, "agent": KEY, **options})
        self.addCleanup(client.close)
        return client

    def asked_once(self, call: Callable[[Client], Any], **options: Any) -> tuple[str, str, Any, bytes]:
        self.service.replies = [(200, {}, {})]
        call(self.client(**options))
        return self.service.asked[-1]

    def test_sign_each_private_request(self) -> None:
        method, path, headers, body = self.asked_once(lambda client: client.api.list_events(after=3))
        self.assertEqual((method, path, body), ("GET", f"/v1/base/account/{KEY.address}/events?after=3", b""))
        self.assertEqual(headers["x-service-agent"], KEY.address)
        self.assertEqual(len(headers["x-service-signature"]), 132)
        self.assertNotIn("x-service-trader", headers)

    def test_name_the_trader_where_it_is_known(self) -> None:
        trader = "0x" + "12" * 20
        _, path, headers, _ = self.asked_once(lambda client: client.api.get_account(), trader=trader)
        self.assertEqual((path, headers["x-service-trader"]), (f"/v1/base/account/{trader}", trader))

    def test_use_a_key_for_reads_only(self) -> None:
        options = {"agent": None, "api_key": "bz_x", "trader": "0x" + "12" * 20}
        _, _, headers, _ = self.asked_once(lambda client: client.api.list_positions(), **options)
        self.assertEqual(headers["x-service-api-key"], "bz_x")
        with self.assertRaisesRegex(ConfigError, "needs an agent"):
            self.client(**options).api.cancel_order("1")

    def test_take_another_prefix(self) -> None:
        _, _, headers, _ = self.asked_once(lambda client: client.api.get_order("7"), header_prefix="X-Gains-")
        self.assertIn("x-gains-signature", headers)

    def test_quote_paths_and_queries(self) -> None:
        _, path, headers, _ = self.asked_once(
            lambda client: client.api.get_candles("BTC/USD", interval="1m", from_=1, to=2)
        )
        self.assertEqual(path, "/v1/base/markets/BTC%2FUSD/candles?interval=1m&from=1&to=2")
        self.assertNotIn("x-service-signature", headers)

    def test_repeat_reads_and_sign_them_anew(self) -> None:
        self.service.replies = [NOT_READY, None, (200, {"id": "7"}, {})]
        self.assertEqual(self.client().api.get_order("7"), {"id": "7"})
        nonces = {headers["x-service-nonce"] for _, _, headers, _ in self.service.asked}
        self.assertEqual(len(nonces), 3)

    def test_repeat_an_order_whose_answer_was_lost_only_with_a_client_id(self) -> None:
        body: Any = {"market": "BTC/USD", "side": "long", "type": "market", "size": "1", "leverage": "2"}
        self.service.replies = [None]
        with self.assertRaises(NetworkError):
            self.client().api.create_order(body)
        self.service.replies = [None, (201, {"order": {}}, {})]
        self.client().api.create_order({**body, "clientId": "a"})
        self.assertEqual(len(self.service.asked), 3)

    def test_repeat_a_write_that_was_refused_for_the_moment(self) -> None:
        self.service.replies = [NOT_READY, (200, {}, {})]
        self.client().api.cancel_order("1")
        self.assertEqual(len(self.service.asked), 2)

    def test_never_repeat_what_a_wallet_signed(self) -> None:
        self.service.replies = [NOT_READY]
        with self.assertRaises(NotReady):
            self.client().issue_api_key(PrivateKey(6), "label")

    def test_repeat_the_read_of_the_chain_that_comes_before_all_others(self) -> None:
        self.service.infos, self.service.replies = [None, NOT_READY], [(201, {"agent": {}}, {})]
        self.assertEqual(self.client().authorize(PrivateKey(6)), {"agent": {}})
        self.service.infos = [None]
        with self.assertRaises(NetworkError):
            self.client(max_retries=0).authorize(PrivateKey(6))

    def test_tell_a_request_that_was_held_up_from_a_wrong_clock(self) -> None:
        reply = (401, {"code": "TIMESTAMP_OUT_OF_WINDOW", "message": "late", "details": {}}, {})
        self.service.replies = [reply]
        with self.assertRaises(TimestampOutOfWindow):
            self.client().api.get_order("7")
        bezel.calls.HELD_UP_S, before = 0.0, bezel.calls.HELD_UP_S
        self.addCleanup(setattr, bezel.calls, "HELD_UP_S", before)
        self.service.replies = [reply, (200, {"id": "7"}, {})]
        self.assertEqual(self.client().api.get_order("7"), {"id": "7"})

    def test_are_no_longer_repeated_when_the_pause_is_too_long(self) -> None:
        details = {"scope": "ip", "requestId": "r-1", "docs": "/docs/errors#rate_limited"}
        reply = (429, {"code": "RATE_LIMITED", "message": "slow down", "details": details}, {"retry-after": "100"})
        self.service.replies = [reply]
        with self.assertRaises(RateLimited) as caught:
            self.client().api.list_markets()
        error = caught.exception
        self.assertEqual((error.details["scope"], error.request_id, error.status), ("ip", "r-1", 429))
        self.assertEqual((error.retry_after_s, error.retryable), (100.0, True))

    def test_have_an_error_for_each_code_and_for_new_ones(self) -> None:
        for code, kind in (("AGENT_NOT_DELEGATED", AgentNotDelegated), ("FROM_TOMORROW", ApiError)):
            self.service.replies = [(403, {"code": code, "message": "no", "details": {"a": 1}}, {})]
            with self.assertRaises(ApiError) as caught:
                self.client().api.list_positions()
            self.assertIs(type(caught.exception), kind)
            self.assertEqual((caught.exception.code, caught.exception.details), (code, {"a": 1}))

    def test_know_the_errors_of_notifications(self) -> None:
        self.service.replies = [(400, {"error": "VALIDATION_ERROR", "message": "no such id", "success": False}, {})]
        with self.assertRaises(ValidationError):
            self.client().api.dismiss_notification({"notificationId": 5})

    def test_take_nothing_for_an_answer_that_is_none(self) -> None:
        for reply in ((502, b"<html>", {}), (200, b"<html>", {}), (404, {"oops": 1}, {})):
            self.service.replies = [reply]
            with self.assertRaises(NetworkError):
                self.client(max_retries=0).api.list_markets()

    def test_answer_readiness_whatever_the_status_is(self) -> None:
        self.service.replies = [(503, {"ready": False, "chains": {}}, {})]
        self.assertEqual(self.client().api.ready(), {"ready": False, "chains": {}})

    def test_refuse_a_service_of_another_diamond_or_chain(self) -> None:
        with self.assertRaisesRegex(ConfigError, "Diamond.* give it diamond="):
            self.client(diamond=None).api.list_positions()
        with self.assertRaisesRegex(ConfigError, "signing name"):
            pinned = {**INFO["signing"]["domain"], "name": "Other"}
            self.client(signing=pinned).api.list_positions()
        with self.assertRaisesRegex(ConfigError, "no chain"):
            self.client(chain="mars")
        self.assertEqual(self.service.asked, [])

    def test_authorise_an_agent_by_its_key_or_by_its_address(self) -> None:
        wallet = PrivateKey(6)
        self.service.replies = [(201, {}, {})] * 2
        self.client().authorize(wallet, name="bot")
        asked = json.loads(self.service.asked[-1][3])
        self.assertEqual((asked["agent"], asked["trader"]), (KEY.address, wallet.address))
        self.assertEqual((len(asked["agentSignature"]), asked["scope"]["markets"]), (132, "all"))
        # The machine of the wallet knows the agent by its address only.
        self.client(agent=None).authorize(wallet, agent=KEY.address.lower(), scope={"maxLeverage": Decimal("20.0")})
        told = json.loads(self.service.asked[-1][3])
        self.assertEqual((told["agent"], told["scope"]), (KEY.address, {**asked["scope"], "maxLeverage": "20"}))
        self.assertNotIn("agentSignature", told)
        with self.assertRaisesRegex(ConfigError, "An agent is an address") as caught:
            self.client(agent=None).authorize(wallet, agent=KEY.hex)
        self.assertNotIn(KEY.hex[2:], str(caught.exception))
        with self.assertRaisesRegex(ConfigError, "give it agent="):
            self.client(agent=None).authorize(wallet)

    def test_let_no_other_wallet_act_than_the_trader(self) -> None:
        trader = "0x" + "12" * 20
        agent = {"trader": trader, "status": "pending_delegation"}
        self.service.replies = [(200, {"agent": agent, "delegationTx": {}}, {})]
        for call in (
            lambda client: client.authorize(PrivateKey(6)),
            lambda client: client.delegate(PrivateKey(6)),
            lambda client: client.revoke(PrivateKey(6)),
            lambda client: client.issue_api_key(PrivateKey(6), "dashboard"),
            lambda client: client.approve(PrivateKey(6), "USDC", "1"),
        ):
            with self.assertRaisesRegex(ConfigError, "pass the trader's own wallet"):
                call(self.client(trader=trader, rpc_url="http://127.0.0.1:1"))

    def test_preview_what_the_writes_take(self) -> None:
        order: Any = {"market": "BTC/USD", "side": "long", "type": "market", "size": "1", "leverage": "2"}
        root = f"/v1/base/account/{KEY.address}/preview"
        for call, path in (
            (
                lambda client: client.preview_order({**order, "reduceOnly": True, "clientId": "a"}, simulate=True),
                "order?market=BTC%2FUSD&side=long&type=market&size=1&leverage=2&reduceOnly=true&simulate=true",
            ),
            (lambda client: client.preview_close("7"), "close/7"),
            (lambda client: client.preview_close("7", {"size": Decimal("0.5")}), "close/7?size=0.5"),
            (lambda client: client.preview_position("7", {"sl": "5", "tp": "9"}), "position/7?sl=5&tp=9"),
            (
                lambda client: client.preview_position("7", {"collateral": {"action": "remove", "amount": "3"}}),
                "position/7?removeCollateral=3",
            ),
        ):
            self.assertEqual(self.asked_once(call)[1], f"{root}/{path}")

    def test_read_lists_page_by_page(self) -> None:
        pages = [{"data": [{"id": 3}, {"id": 2}], "nextCursor": "2"}, {"data": [{"id": 1}], "nextCursor": None}]
        self.service.replies = [(200, page, {}) for page in pages]
        self.assertEqual([entry["id"] for entry in self.client().all_fills(page_size=2)], [3, 2, 1])
        queries = [path.partition("?")[2] for _, path, _, _ in self.service.asked]
        self.assertEqual(queries, ["limit=2", "cursor=2&limit=2"])

        async def ask() -> list[Any]:
            self.service.replies = [(200, page, {}) for page in pages]
            async with AsyncClient(self.service.url, chain="base", diamond=DIAMOND, agent=KEY) as client:
                return [order["id"] async for order in client.all_orders()]

        self.assertEqual(asyncio.run(ask()), [3, 2, 1])

    def test_name_the_method_that_remedies_a_refusal(self) -> None:
        details = {"requestId": "r-1", "docs": "/docs/errors", "remedy": "Read them again."}
        for code, kind, words in (
            ("AGENT_NOT_DELEGATED", AgentNotDelegated, r"client\.delegate\(wallet\)"),
            ("TRADER_MISMATCH", TraderMismatch, "trader="),
            ("SCOPE_MARKET_NOT_ALLOWED", ScopeMarketNotAllowed, r"authorize\(wallet, scope=\.\.\.\)"),
            ("POSITION_NOT_FOUND", PositionNotFound, "^POSITION_NOT_FOUND: no Read them again.$"),
        ):
            self.service.replies = [(404, {"code": code, "message": "no", "details": details}, {})]
            with self.assertRaisesRegex(kind, words) as caught:
                self.client().position("7")
            self.assertEqual((caught.exception.details, caught.exception.request_id), (details, "r-1"))

    def test_say_how_an_order_ended_without_a_fill(self) -> None:
        for status, reason, words in (
            ("timed_out", None, r"^Order 28 is timed_out\. .* cancel_order\(id\) reclaims"),
            ("rejected", "SLIPPAGE", r"^Order 28 is rejected \(SLIPPAGE\)\. The contracts refused it\.$"),
            ("canceled", None, r"^Order 28 is canceled\.$"),
        ):
            self.assertRegex(str(OrderNotFilled({"id": "28", "status": status, "reason": reason})), words)

    def test_can_be_awaited_side_by_side(self) -> None:
        self.service.replies = [(200, {"data": []}, {})] * 5

        async def ask() -> list[Any]:
            async with AsyncClient(self.service.url, chain="base", diamond=DIAMOND, agent=KEY) as client:
                return await asyncio.gather(*(client.api.list_positions() for _ in range(5)))

        self.assertEqual(asyncio.run(ask()), [{"data": []}] * 5)

    def test_use_each_nonce_once(self) -> None:
        nonces = [next_nonce() for _ in range(1_000)]
        self.assertEqual(sorted(set(nonces)), nonces)
