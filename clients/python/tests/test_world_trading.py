"""Trading on the real service and the local chain."""

import contextlib
import csv
import io
import re
import threading
import time
import uuid
from pathlib import Path
from typing import Any

import bezel.node
from bezel import OrderNotFilled, UnverifiedTransaction, WaitTimeout, add, number, round_price, sub
from bezel.diamond import Diamond
from bezel.refusals import OrderNotFound, PositionNotFound, PrecisionError, SimulationReverted, TraderMismatch

from .cases import world
from .world import MARKET, SOON, World, account, chain

TIMEOUT_BLOCKS = 250
"""Blocks after which a request can be reclaimed, and some more."""


class Trading(World):
    account_number = 1

    def test_opens_protects_changes_and_closes(self) -> None:
        client, id = self.client, self.position()
        changed = client.change_position(id, {"sl": "57000", "tp": "66000"}, **SOON)
        self.assertEqual((changed["sl"], changed["tp"]), ("57000", "66000"))
        # What is so already is no event, and is not waited for.
        self.assertEqual(client.change_position(id, {"tp": "66000"}, **SOON)["tp"], "66000")
        # A stop loss so far away is moved by the contracts, and the service says so.
        with self.assertLogs("bezel", "WARNING") as logged:
            self.assertGreater(number(client.change_position(id, {"sl": "40000"}, **SOON)["sl"]), number("40000"))
        self.assertIn("sl_clamped", logged.output[0])
        self.assertEqual(client.change_position(id, {"leverage": "5"}, **SOON)["leverage"], "5")
        more = client.change_position(id, {"collateral": {"action": "add", "amount": "20"}}, **SOON)
        self.assertGreater(number(more["collateral"]), number(changed["collateral"]))
        part = client.wait_for_fill(client.close_position(id, {"size": "0.004", "slippage": "2"})["id"], **SOON)
        rest = client.wait_for_fill(client.close_position(id)["id"], **SOON)
        self.assertEqual(add(part["size"], rest["size"]), number(changed["size"]))
        fills = client.api.list_fills(limit=10)["data"]
        self.assertEqual([entry["positionId"] for entry in fills if entry["positionId"] == id][:1], [id])

    def test_rests_changes_and_cancels_an_order(self) -> None:
        client = self.client
        market = client.api.get_market("BTC/USD")
        price = round_price(market, number("60000") * number("0.9") + number("0.001"))
        order = client.open_order({**MARKET, "type": "limit", "price": price, "sl": "50000"})
        order = client.wait_for_order(order["id"], ("open",), **SOON)
        moved = client.change_order(order["id"], {"price": "53000", "tp": "70000"})
        self.assertEqual((moved["price"], moved["tp"], moved["sl"]), ("53000", "70000", "50000"))
        self.assertIn(order["id"], [one["id"] for one in client.api.list_open_orders()["data"]])
        self.assertEqual(client.cancel_order(order["id"])["status"], "canceled")
        with self.assertRaises(OrderNotFilled):
            client.wait_for_fill(order["id"], **SOON)

    def test_reduces_and_shorts(self) -> None:
        self.fill()
        self.fill({**MARKET, "side": "short", "reduceOnly": True})
        short = self.fill({**MARKET, "side": "short", "slippage": "2", "price": "59500"})
        closing = self.client.close_position(str(short["positionId"]))
        self.assertEqual((closing["side"], closing["reduceOnly"]), ("long", True))
        self.assertEqual(self.client.wait_for_fill(closing["id"], **SOON)["size"], short["size"])

    def test_never_places_an_order_twice_under_one_client_id(self) -> None:
        body: Any = {**MARKET, "clientId": str(uuid.uuid4())}
        first, again = self.client.open_order(body), self.client.open_order(body)
        self.assertEqual(first["id"], again["id"])
        filled = self.client.wait_for_fill(first["id"], **SOON)
        self.client.wait_for_fill(self.client.close_position(str(filled["positionId"]))["id"], **SOON)

    def test_has_typed_errors_with_details(self) -> None:
        client = self.client
        with self.assertRaises(PrecisionError) as caught:
            client.open_order({**MARKET, "size": "0.0123456789"})
        self.assertEqual(caught.exception.details["field"], "size")
        self.assertIsNotNone(caught.exception.request_id)
        with self.assertRaises(OrderNotFound):
            client.api.get_order("999999999")
        with self.assertRaises(PositionNotFound) as unknown:
            client.close_position("999999999")
        self.assertIsNotNone(unknown.exception.request_id)
        with self.assertRaises(SimulationReverted) as reverted:
            client.open_order({**MARKET, "sl": "65000"})
        self.assertEqual(reverted.exception.details["errorName"], "TradeSlInvalid")
        with self.assertRaises(TraderMismatch):
            client.api.get_account(address=account("trader-2").address)

    def test_signs_nothing_that_was_not_asked_for(self) -> None:
        client, sent = self.client, []
        prepare = client._inner.api.create_order
        send = bezel.node.Node.send

        async def other(body: Any) -> Any:
            return await prepare({**body, "size": "0.02", "leverage": "20"})

        async def record(*args: Any, **more: Any) -> str:
            sent.append(more)
            return await send(*args, **more)

        client._inner.api.create_order = other
        bezel.node.Node.send = record
        try:
            with self.assertRaises(UnverifiedTransaction) as caught:
                client.open_order(MARKET)
            self.assertEqual(caught.exception.field, "leverage")
            self.assertEqual(sent, [])
        finally:
            client._inner.api.create_order = prepare
            bezel.node.Node.send = send


class Panic(World):
    account_number = 5

    def test_ends_everything(self) -> None:
        client = self.client
        client.flatten(wait=True, **SOON)
        for side in ("long", "short"):
            self.fill({**MARKET, "side": side})
        for price in ("50000", "51000"):
            order = client.open_order({**MARKET, "type": "limit", "price": price})
            client.wait_for_order(order["id"], ("open",), **SOON)
        canceled = client.cancel_all(market="BTC/USD")
        self.assertEqual((len(canceled.orders), canceled.left_out), (2, []))
        for one in canceled.orders:
            self.assertEqual(client.wait_for_order(one["id"], **SOON)["status"], "canceled")
        order = client.open_order({**MARKET, "type": "stop", "price": "70000"})
        client.wait_for_order(order["id"], ("open",), **SOON)
        ended = client.flatten(slippage="2")
        self.assertEqual((len(ended.orders), len(ended.tx_hashes)), (3, 1))
        for one in ended.orders:
            self.assertIn(client.wait_for_order(one["id"], **SOON)["status"], ("canceled", "filled"))
        self.fill()
        closed = client.close_all(wait=True, **SOON)
        self.assertEqual((closed.orders[-1]["status"], closed.left_out), ("filled", []))
        self.assertEqual((client.api.list_positions()["data"], client.api.list_open_orders()["data"]), ([], []))
        self.assertEqual(client.flatten(), ([], [], []))


class Oracle(World):
    """An oracle that never answers, and what was locked by it."""

    account_number = 5

    def setUp(self) -> None:
        self.addCleanup(chain, "bezel_pauseOracle", False)

    def time_out(self) -> None:
        chain("hardhat_mine", TIMEOUT_BLOCKS)

    def test_a_change_that_nobody_answers_is_reclaimed(self) -> None:
        id = self.position()
        chain("bezel_pauseOracle", True)

        def time_out() -> None:
            while self.client.position(id)["pendingUpdate"] is None:
                time.sleep(0.1)
            self.time_out()

        threading.Thread(target=time_out, daemon=True).start()
        with self.assertRaisesRegex(WaitTimeout, "cancel_position_update"):
            self.client.change_position(id, {"leverage": "5"}, **SOON)
        self.assertIsNone(self.client.cancel_position_update(id)["pendingUpdate"])
        chain("bezel_pauseOracle", False)
        self.client.wait_for_fill(self.client.close_position(id)["id"], **SOON)

    def test_closes_that_nobody_answers_are_reclaimed_and_made_anew(self) -> None:
        for _ in range(2):
            self.fill()
        chain("bezel_pauseOracle", True)
        late = [order["id"] for order in self.client.close_all().orders]
        for id in late:
            self.client.wait_for_order(id, ("pending",), **SOON)
        self.time_out()
        for id in late:
            self.client.wait_for_order(id, ("timed_out",), **SOON)
        ended = self.client.flatten()
        chain("bezel_pauseOracle", False)
        self.assertEqual((len(ended.orders), ended.left_out, len(ended.tx_hashes)), (4, [], 1))
        ends = [self.client.wait_for_order(order["id"], ("canceled", "filled"), **SOON) for order in ended.orders]
        self.assertEqual([order["status"] for order in ends], ["canceled", "canceled", "filled", "filled"])
        self.assertEqual(self.client.api.list_positions()["data"], [])

    def test_an_answer_that_comes_while_everything_is_ended_leaves_nothing_open(self) -> None:
        client, pages = self.client, []
        self.fill({**MARKET, "side": "short"})
        chain("bezel_pauseOracle", True)
        late = client.open_order(MARKET)["id"]
        client.wait_for_order(late, ("pending",), **SOON)
        self.time_out()
        client.wait_for_order(late, ("timed_out",), **SOON)
        inner = client._inner
        prepare, diamond = inner.api.flatten, Diamond(inner._node, world()["diamond"])

        async def overtaken(body: Any) -> Any:
            pages.append(await prepare(body))
            # The reclaim is prepared, and now its request is answered after all.
            chain("bezel_pauseOracle", False)
            while (await diamond.trades(client.caller.trader)).pending:
                time.sleep(0.1)
            return pages[-1]

        inner.api.flatten = overtaken
        self.addCleanup(setattr, inner.api, "flatten", prepare)
        ended = client.flatten(wait=True, **SOON)
        self.assertGreater(len(pages), 1)
        self.assertEqual((ended.left_out, client.api.get_order(late)["status"]), ([], "filled"))
        self.assertEqual((client.api.list_positions()["data"], client.api.list_open_orders()["data"]), ([], []))

    def test_an_order_that_nobody_answers_is_reclaimed(self) -> None:
        chain("bezel_pauseOracle", True)
        order = self.client.open_order(MARKET)
        self.client.wait_for_order(order["id"], ("pending",), **SOON)
        self.time_out()
        self.client.wait_for_order(order["id"], ("timed_out",), **SOON)
        self.assertEqual(self.client.cancel_order(order["id"])["status"], "canceled")


class Page(World):
    """The program of docs/python.md that goes the whole way, as it stands there."""

    account_number = 3

    def test_walks_from_the_preview_to_the_books(self) -> None:
        page = (Path(__file__).parents[3] / "docs" / "python.md").read_text()
        programs = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
        space: dict[str, Any] = {}
        exec(next(program for program in programs if "def walk(" in program), space)
        books = io.StringIO()
        with contextlib.redirect_stdout(io.StringIO()) as told:
            space["walk"](self.client, account("trader-3"), books)
        self.assertRegex(told.getvalue(), r"^fee [\d.]+, liquidated at [\d.]+\nstop at 58\d\d\d.*\nflat with ")
        rows = list(csv.DictReader(io.StringIO(books.getvalue())))
        self.assertEqual([row["action"] for row in rows], ["TradeClosedMarket", "TradeOpenedMarket"])
        deposits, payouts, net = (add(*(row[name] for row in rows)) for name in ("deposit", "payout", "netPnl"))
        self.assertEqual(add(sub(deposits, payouts), net), 0)
        self.assertEqual(self.client.api.list_positions()["data"], [])
