"""The stream against a service that loses, repeats and cuts, and the rules of resuming."""

import asyncio
import concurrent.futures
import json
import unittest
from collections.abc import AsyncGenerator
from typing import Any

import bezel.feed
import bezel.stream
import websockets
from bezel import AsyncClient, AsyncFeed, ConfigError, Feed, LogGap, Topic
from bezel.feed import follow_log
from bezel.refusals import AgentRevoked, NotReady
from bezel.stream import Resume

ORDERS, PRICES = Topic("orders"), Topic("prices")
serve: Any = getattr(websockets, "serve")


class Resuming(unittest.TestCase):
    def test_private_channels_go_on_after_the_last_event(self) -> None:
        resume = Resume([ORDERS, PRICES], None)
        self.assertEqual(resume.subscription(ORDERS), {"op": "subscribe", "channel": "orders"})
        self.assertEqual(resume.accept(ORDERS, {"seq": 7, "snapshot": True}), "new")
        self.assertEqual(resume.accept(ORDERS, {"seq": 12, "snapshot": False}), "new")
        self.assertEqual(resume.accept(ORDERS, {"seq": 12, "snapshot": False}), "old")
        resume.forget_feeds()
        self.assertEqual(resume.subscription(ORDERS), {"op": "subscribe", "channel": "orders", "fromSeq": 13})

    def test_each_channel_may_begin_elsewhere(self) -> None:
        resume = Resume([ORDERS, Topic("fills"), PRICES], {"orders": 3})
        asked = [resume.subscription(topic).get("fromSeq") for topic in (ORDERS, Topic("fills"), PRICES)]
        self.assertEqual(asked, [3, None, None])

    def test_a_hole_in_market_data_is_noticed_unless_a_snapshot_fills_it(self) -> None:
        resume = Resume([PRICES], None)
        for seq, snapshot, verdict in ((5, True, "new"), (6, False, "new"), (9, True, "new"), (11, False, "gap")):
            self.assertEqual(resume.accept(PRICES, {"seq": seq, "snapshot": snapshot}), verdict)
        self.assertEqual(resume.accept(Topic("trades", "BTC/USD"), {"snapshot": False}), "new")


class StandIn:
    """A WebSocket that does what a test tells it, with the log 1, 2, 3, ... of one account."""

    def __init__(self) -> None:
        self.heard: list[dict[str, Any]] = []
        self.connections = 0
        self.last = 0
        self.cut_after = 0
        """Events after which a socket is cut; 0 never cuts."""
        self.refuse: list[str] = []
        """Codes with which the next subscriptions are refused."""
        self.lose: set[int] = set()
        """Messages of prices that never arrive."""
        self.url = ""

    async def __aenter__(self) -> "StandIn":
        self._server = await serve(self._serve, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(self, *_: Any) -> None:
        self._server.close()
        await self._server.wait_closed()

    def event(self, seq: int) -> dict[str, Any]:
        channel = bezel.stream.LOG_CHANNELS[seq % 4]
        return {"channel": channel, "seq": seq, "timestamp": seq, "block": None, "reverted": False, "data": seq}

    async def _serve(self, socket: Any, *_: Any) -> None:
        self.connections += 1
        sent = 0

        async def say(message: dict[str, Any]) -> None:
            await socket.send(json.dumps(message))

        await say({"op": "hello", "chain": "base", "heartbeatMs": 15_000})
        await say({"op": "ping", "timestamp": 1})
        async for text in socket:
            message = json.loads(text)
            self.heard.append(message)
            if message["op"] == "auth":
                await say({"op": "authenticated", "trader": "0x", "via": "apiKey"})
            if message["op"] != "subscribe":
                continue
            if self.refuse:
                await say({"op": "error", "code": self.refuse.pop(0), "message": "no"})
                continue
            await say({"op": "subscribed", "channel": message["channel"]})
            if message["channel"] == "prices":
                for seq in range(1, 6):
                    if seq not in self.lose:
                        await say({"channel": "prices", "snapshot": seq == 1, "seq": seq, "data": []})
                self.lose.clear()
                continue
            # Every event is told twice, as a service must never do and a client must not mind.
            for seq in range(message["fromSeq"], self.last + 1):
                event = self.event(seq)
                if event["channel"] != message["channel"]:
                    continue
                for _ in range(2):
                    await say({**event, "snapshot": False})
                sent += 1
                if sent == self.cut_after:
                    return await socket.close(1012)


class Listening(unittest.IsolatedAsyncioTestCase):
    def setUp(self) -> None:
        bezel.stream.FIRST_PAUSE_S = bezel.feed.FIRST_PAUSE_S = 0.01

    def client(self, service: StandIn) -> AsyncClient:
        return AsyncClient(service.url, chain="base", api_key="bz_x", trader="0x" + "12" * 20)

    async def test_the_log_is_whole_over_many_cuts(self) -> None:
        async with StandIn() as service:
            service.last, service.cut_after = 200, 7
            client = self.client(service)

            async def page(*, after: int, limit: int) -> Any:
                return {"data": [service.event(after + 1)], "lastSeq": after + 1}

            client.api.list_events = page
            seen = []
            feed = follow_log(client.caller, client.api, 0)
            async for event in feed:
                seen.append(event)
                if len(seen) == 200:
                    break
            await feed.aclose()
        self.assertEqual(seen, [service.event(seq) for seq in range(1, 201)])
        self.assertGreater(service.connections, 20)
        self.assertIn({"op": "pong", "timestamp": 1}, service.heard)

    async def test_a_log_that_is_no_longer_kept_is_said(self) -> None:
        async with StandIn() as service:
            client = self.client(service)

            async def page(*, after: int, limit: int) -> Any:
                return {"data": [service.event(9)], "lastSeq": 9}

            client.api.list_events = page
            with self.assertRaises(LogGap):
                await anext(follow_log(client.caller, client.api, 3))

    async def test_a_service_that_restarts_is_waited_for(self) -> None:
        async with StandIn() as service:
            client, answers = self.client(service), [NotReady("NOT_READY", "", status=503, details={})]

            async def page(*, after: int, limit: int) -> Any:
                if answers:
                    raise answers.pop()
                return {"data": [service.event(1)], "lastSeq": 1}

            client.api.list_events = page
            self.assertEqual(await anext(follow_log(client.caller, client.api, 0)), service.event(1))

    async def test_what_passes_is_tried_again_and_the_rest_ends_the_loop(self) -> None:
        async with StandIn() as service:
            service.last, service.refuse = 1, ["NOT_READY", "NONCE_REUSED", "RATE_LIMITED"]
            async with self.client(service).stream(["fills"], from_seq=1) as stream:
                self.assertEqual((await anext(stream))["seq"], 1)
            self.assertEqual(service.connections, 4)
            service.refuse = ["AGENT_REVOKED"]
            async with self.client(service).stream(["fills"], from_seq=1) as stream:
                with self.assertRaises(AgentRevoked):
                    await anext(stream)

    async def test_a_lost_message_of_prices_brings_a_new_snapshot(self) -> None:
        async with StandIn() as service:
            service.lose = {3}
            numbers = []
            async with self.client(service).stream(["prices"]) as stream:
                async for message in stream:
                    numbers.append((message["seq"], message["snapshot"]))
                    if len(numbers) == 7:
                        break
        self.assertEqual(numbers[:2], [(1, True), (2, False)])
        self.assertEqual(numbers[2:], [(1, True), (2, False), (3, False), (4, False), (5, False)])
        said = [message["op"] for message in service.heard if message["op"] != "pong"]
        self.assertEqual(said, ["subscribe", "unsubscribe", "subscribe"])

    async def test_a_slow_reader_loses_nothing(self) -> None:
        bezel.stream.MAX_WAITING, before = 3, bezel.stream.MAX_WAITING
        self.addCleanup(setattr, bezel.stream, "MAX_WAITING", before)
        async with StandIn() as service:
            service.last, seen = 80, []
            async with self.client(service).stream(["orders"], from_seq=1) as stream:
                async for message in stream:
                    seen.append(message["seq"])
                    await asyncio.sleep(0)
                    if len(seen) == 20:
                        break
        self.assertEqual(seen, list(range(4, 81, 4)))

    async def test_credentials_are_needed_for_private_channels_only(self) -> None:
        async with StandIn() as service:
            client = AsyncClient(service.url, chain="base")
            async with client.stream(["prices"]) as stream:
                self.assertTrue((await anext(stream))["snapshot"])
            async with client.stream(["orders"]) as stream:
                with self.assertRaisesRegex(ConfigError, "private"):
                    await anext(stream)
            async with client.stream([Topic("book", str(number)) for number in range(201)]) as stream:
                with self.assertRaisesRegex(ConfigError, "200"):
                    await anext(stream)

    async def test_closing_ends_a_loop_that_waits(self) -> None:
        async with StandIn() as service:
            stream = self.client(service).stream(["fills"], from_seq=1)
            reading = asyncio.create_task(_read_all(stream))
            while not service.connections:
                await asyncio.sleep(0.01)
            await stream.close()
            self.assertEqual(await reading, [])
            with self.assertRaises(StopAsyncIteration):
                await anext(stream)


    async def test_a_reader_that_stops_waiting_misses_nothing(self) -> None:
        go = asyncio.Event()

        async def series() -> AsyncGenerator[int, None]:
            await go.wait()
            for number in range(3):
                yield number

        async with AsyncFeed(series()) as feed:
            with self.assertRaises(TimeoutError):
                async with asyncio.timeout(0.01):
                    await anext(feed)
            go.set()
            self.assertEqual([await anext(feed), await anext(feed), await anext(feed)], [0, 1, 2])


class Blocking(unittest.TestCase):
    def test_closing_ends_a_loop_that_waits_in_another_thread(self) -> None:
        feed = Feed(_endless)
        self.assertEqual(next(feed), 0)
        with concurrent.futures.ThreadPoolExecutor() as threads:
            reading = threads.submit(list, feed)
            feed.close()
            self.assertEqual(reading.result(), [])
        feed.close()

    def test_an_error_of_the_series_reaches_the_caller(self) -> None:
        with Feed(_broken) as feed, self.assertRaises(KeyError):
            next(feed)


async def _read_all(stream: Any) -> list[Any]:
    return [message async for message in stream]


async def _endless() -> AsyncGenerator[int, None]:
    yield 0
    await asyncio.Event().wait()


async def _broken() -> AsyncGenerator[int, None]:
    raise KeyError
    yield 0
