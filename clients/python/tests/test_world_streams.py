"""The stream and asyncio on the real service and the local chain."""

import asyncio
import threading
import uuid
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import bezel.stream
from bezel import AsyncClient, Client, Topic
from bezel.refusals import MarketNotFound, ValidationError

from .cases import world
from .network import Proxy
from .world import MARKET, SOON, World, control, everything, options


class Streams(World):
    account_number = 5

    def setUp(self) -> None:
        self.proxy = Proxy(world()["baseUrl"])
        self.addCleanup(self.proxy.close)
        bezel.stream.FIRST_PAUSE_S = 0.05
        self.through = Client(self.proxy.url, **options(5))
        self.addCleanup(self.through.close)

    def test_the_log_has_no_gap_and_no_double_whatever_is_cut(self) -> None:
        stop, seen = threading.Event(), []
        first = self.client.api.list_events(after=2**53 - 1, limit=1)["lastSeq"]

        def cut() -> None:
            while not stop.wait(0.4):
                self.proxy.cut()

        def trade() -> None:
            for _ in range(3):
                self.fill()
            for position in self.client.api.list_positions()["data"]:
                self.client.wait_for_fill(self.client.close_position(position["id"])["id"], **SOON)

        threads = [threading.Thread(target=work) for work in (cut, trade)]
        for thread in threads:
            thread.start()
        with self.through.events(after=first) as events:
            threads[1].join()
            last = self.client.api.list_events(after=2**53 - 1, limit=1)["lastSeq"]
            for event in events:
                seen.append(event)
                if event["seq"] >= last:
                    break
        stop.set()
        threads[0].join()
        self.assertGreater(len(seen), 15)
        self.assertEqual(seen, everything(self.client)[first : first + len(seen)])

    def test_channels_go_on_after_a_crash_of_the_service(self) -> None:
        def crash_and_trade() -> None:
            control("crash")
            self.fill()

        states: list[str] = []
        told = []
        with (
            self.through.stream(["orders", "prices"], on_status=states.append) as stream,
            ThreadPoolExecutor() as threads,
        ):
            message = next(message for message in stream if message["channel"] == "orders")
            self.assertTrue(message["snapshot"])
            start = message["seq"]
            work = threads.submit(crash_and_trade)
            work.add_done_callback(lambda done: stream.close() if done.exception() else None)
            for message in stream:
                if message["channel"] == "orders":
                    self.assertFalse(message["snapshot"])
                    told.append(message)
                    if message["data"]["status"] == "filled":
                        break
            work.result()
        self.assertIn("waiting", states)
        orders = [event["seq"] for event in everything(self.client) if event["channel"] == "orders"]
        own = [seq for seq in orders if seq > start]
        self.assertEqual([message["seq"] for message in told], own[: len(told)])

    def test_market_data_are_whole_after_a_cut(self) -> None:
        channels = ("prices", "book", "trades")
        topics = ["prices", *(Topic(channel, "BTC/USD") for channel in channels), Topic("candles", "BTC/USD", "1m")]
        with self.through.stream(topics) as stream:
            for _ in range(2):
                whole = set()
                for message in stream:
                    if message["snapshot"]:
                        whole.add((message["channel"], message.get("market")))
                    if len(whole) == len(topics):
                        break
                self.proxy.cut()
            of_market = {(channel, "BTC/USD") for channel in (*channels, "candles")}
            self.assertEqual(whole, {("prices", None), *of_market})

    def test_a_refusal_ends_the_loop_with_its_error(self) -> None:
        with self.client.stream(["orders"], from_seq=10**9) as stream, self.assertRaises(ValidationError):
            next(stream)
        with self.client.stream([Topic("book", "NO/SUCH")]) as stream, self.assertRaises(MarketNotFound):
            next(stream)


class Async(World):
    account_number = 1

    def test_everything_can_be_awaited(self) -> None:
        async def story() -> tuple[Any, list[Any]]:
            async with AsyncClient(world()["baseUrl"], **options(1)) as client:
                async with client.events(after=None) as events:
                    following = asyncio.create_task(_until_filled(events))
                    order = await client.open_order({**MARKET, "clientId": str(uuid.uuid4())})
                    prices, fill = await asyncio.gather(
                        client.api.get_prices(), client.wait_for_fill(order["id"], **SOON)
                    )
                    self.assertTrue(prices["data"])
                    seen = await following
                position = str(fill["positionId"])
                await client.change_position(position, {"sl": "57500"}, **SOON)
                closing = await client.close_position(position)
                await client.wait_for_fill(closing["id"], **SOON)
                return fill, seen

        fill, seen = asyncio.run(story())
        self.assertEqual(seen[-1]["data"]["fill"], fill)
        numbers = [event["seq"] for event in seen]
        self.assertEqual(numbers, list(range(numbers[0], numbers[0] + len(numbers))))

    def test_a_loop_that_is_left_ends_its_socket(self) -> None:
        async def story() -> int:
            async with AsyncClient(world()["baseUrl"], **options(1)) as client:
                async for message in client.stream(["prices"]):
                    self.assertTrue(message["snapshot"])
                    break
                for _ in range(50):
                    await asyncio.sleep(0.05)
                    left = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
                    if not left:
                        return 0
                return len(left)

        self.assertEqual(asyncio.run(story()), 0)


async def _until_filled(events: Any) -> list[Any]:
    seen = []
    async for event in events:
        seen.append(event)
        if event["channel"] == "orders" and event["data"]["status"] == "filled":
            return seen
    return seen
