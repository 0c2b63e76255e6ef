"""Reads, credentials and wallets on the real service and the local chain."""

import time
import unittest
from decimal import Decimal
from typing import Any

from bezel import Client, ConfigError, NetworkError, PrivateKey, number
from bezel.refusals import AgentRevoked, AgentUnknown, ApiKeyUnknown, OrderNotFound

from .cases import world
from .world import MARKET, SOON, World, account, options


class Reads(World):
    account_number = 2

    def test_answer_every_public_read(self) -> None:
        api = self.client.api
        self.assertEqual(api.health()["status"], "ok")
        self.assertEqual(api.get_index()["name"], "Bezel")
        self.assertTrue(api.ready()["ready"])
        self.assertGreater(api.get_time()["timestamp"], 1_600_000_000_000)
        self.assertEqual(api.get_chain_info()["diamond"].lower(), world()["diamond"].lower())
        self.assertEqual(api.get_chain_info()["signing"]["types"]["ApiKeyIssue"][0], {"name": "label", "type": "string"})
        symbols = [market["symbol"] for market in api.list_markets()["data"]]
        self.assertIn("BTC/USD", symbols)
        book = api.get_order_book("BTC/USD", levels=3)
        self.assertGreater(number(book["asks"][0]["price"]), number(book["bids"][0]["price"]))
        self.assertEqual(api.get_funding("BTC/USD")["market"], "BTC/USD")
        self.assertLessEqual(len(api.get_candles("BTC/USD", interval="1m")["data"]), 501)
        self.assertIsInstance(api.get_recent_trades("BTC/USD", limit=5)["data"], list)
        self.assertIn("BTC/USD", [price["market"] for price in api.get_prices()["data"]])
        agent = account("agent-2").address
        self.assertEqual(api.get_agent(agent)["agent"]["agent"].lower(), agent.lower())
        self.assertTrue(api.list_notifications()["success"])
        self.assertIn("universe", api.hl_info({"type": "meta"}))

    def test_answer_every_private_read(self) -> None:
        api = self.client.api
        self.assertEqual(api.get_account()["address"].lower(), account("trader-2").address.lower())
        for page in (api.list_order_history(limit=5), api.list_fills(limit=5), api.list_audit(limit=5)):
            self.assertIsInstance(page["data"], list)
        self.assertIsInstance(api.list_positions()["data"], list)
        self.assertIsInstance(api.list_open_orders()["data"], list)
        self.assertNotIn("nextCursor", api.list_open_orders(market="BTC/USD", status="open", since=0))
        self.assertIn("nextCursor", api.list_positions(market="BTC/USD", limit=1))
        with self.assertRaises(OrderNotFound):
            api.get_order_by_client_id(client_id="never sent")
        self.assertIsInstance(api.list_events()["lastSeq"], int)
        self.assertEqual(list(self.client.all_fills(page_size=1)), api.list_fills(limit=500)["data"])
        self.assertEqual(list(self.client.all_orders()), api.list_order_history(limit=500)["data"])

    def test_preview_what_would_happen(self) -> None:
        api = self.client.api
        preview = self.client.preview_order({**MARKET, "size": Decimal("0.01"), "clientId": "not sent"})
        fill = self.fill()
        self.assertEqual((preview["missing"], preview["reason"]), ([], None))
        # The volume of other traders moves the last digits in between.
        self.assertAlmostEqual(number(preview["size"]), number(fill["size"]), 7)
        self.assertEqual(preview["feeCollateral"], fill["feeCollateral"])
        id = str(fill["positionId"])
        self.assertEqual(api.get_position(id)["market"], "BTC/USD")
        changed = self.client.preview_position(id, {"leverage": "5"}, simulate=True)
        self.assertEqual(changed["leverage"], "5")
        closing = self.client.preview_close(id)
        closed = self.client.wait_for_fill(self.client.close_position(id)["id"], **SOON)
        self.assertEqual((closing["size"], closing["reduceOnly"]), (closed["size"], True))

    def test_reach_the_facade_too(self) -> None:
        with self.assertRaisesRegex(NetworkError, "422"):
            self.client.api.hl_exchange({"action": {}, "nonce": 1, "signature": {}})

    def test_work_with_a_read_only_key_until_it_ends(self) -> None:
        wallet = account("trader-2")
        key = self.client.issue_api_key(wallet, "reader")["apiKey"]
        reader = Client(world()["baseUrl"], **options(2, agent=None, api_key=key))
        owner = Client(world()["baseUrl"], **options(2, agent=wallet))
        self.addCleanup(reader.close)
        self.addCleanup(owner.close)
        self.assertEqual(reader.api.get_account(), self.client.api.get_account())
        with reader.stream(["account"]) as stream:
            self.assertTrue(next(stream)["snapshot"])
        self.assertIn("reader", [one["label"] for one in owner.api.list_api_keys()["data"]])
        owner.api.revoke_api_key("reader")
        with self.assertRaises(ApiKeyUnknown):
            reader.api.list_positions()

    def test_dismiss_what_was_read(self) -> None:
        self.fill()
        notice = self.client.api.list_notifications()["notifications"][0]
        self.client.api.dismiss_notification({"notificationId": notice["id"]})
        left = [one["id"] for one in self.client.api.list_notifications()["notifications"]]
        self.assertNotIn(notice["id"], left)


class Wallets(unittest.TestCase):
    def test_authorise_approve_and_revoke(self) -> None:
        wallet, agent = account("trader-4"), account("agent-4")
        client = Client(world()["baseUrl"], **options(4))
        self.addCleanup(client.close)
        scope: Any = {
            "markets": ["BTC/USD"],
            "maxLeverage": "20",
            "dailySpendCapUsd": "5000",
            "expiresAt": None,
            "permissions": "trade",
        }
        answer = client.authorize(wallet, name="narrow", scope=scope)
        self.assertEqual((answer["agent"]["name"], answer["agent"]["scope"]), ("narrow", scope))
        self.assertIsNotNone(client.delegate(wallet, **SOON))
        self.assertIsNone(client.delegate(wallet, **SOON))
        client.approve(wallet, "USDC", "123.45")

        def allowance() -> str:
            balances = {one["collateral"]: one for one in client.api.get_account()["balances"]}
            return balances["USDC"]["allowance"]

        # The service sees the block of the transaction a little later than the node.
        while allowance() != "123.45":
            time.sleep(0.1)
        self.assertIsNotNone(client.revoke(wallet))
        with self.assertRaises(AgentRevoked):
            client.api.list_positions()
        self.assertEqual(client.api.get_agent(agent.address)["agent"]["status"], "revoked")

    def test_a_machine_without_the_agents_key_authorises_its_address(self) -> None:
        wallet, agent = account("trader-4"), PrivateKey.generate()
        owner = Client(world()["baseUrl"], **options(4, agent=None))
        bot = Client(world()["baseUrl"], **options(4, agent=agent))
        self.addCleanup(owner.close)
        self.addCleanup(bot.close)
        answer = owner.authorize(wallet, agent=agent.address, name="elsewhere", scope={"markets": ["BTC/USD"]})
        told = answer["agent"]
        self.assertEqual((told["agent"].lower(), told["scope"]["markets"]), (agent.address.lower(), ["BTC/USD"]))
        self.assertIsNotNone(owner.delegate(wallet, agent=agent.address, **SOON))
        self.assertIsInstance(bot.api.list_positions()["data"], list)
        self.assertIsNotNone(owner.revoke(wallet, agent.address))
        with self.assertRaisesRegex(AgentRevoked, "client.authorize"):
            bot.api.list_positions()

    def test_a_client_without_credentials_is_told_so(self) -> None:
        nobody = Client(world()["baseUrl"], trader="0x" + "12" * 20)
        with self.assertRaisesRegex(ConfigError, "needs an agent"):
            nobody.api.list_positions()
        stranger = Client(world()["baseUrl"], **options(4, agent=PrivateKey.generate(), trader=None))
        self.addCleanup(stranger.close)
        with self.assertRaises(AgentUnknown):
            stranger.api.list_positions()
