"""Batches that change on their way, never fit, or are interrupted, and the wait until everything is over."""

import unittest
from typing import Any

import bezel.ending
from bezel import (
    AsyncClient,
    BatchInterrupted,
    BatchNotDone,
    BezelError,
    NodeError,
    PreparationExpired,
    PrivateKey,
    TransactionReverted,
    UnverifiedTransaction,
    WaitTimeout,
)
from bezel.calls import Blocking, api_error, run_now
from bezel.ending import MAX_TRIES
from bezel.errors import NetworkError

KEY = PrivateKey(9)
BUSY = api_error("RATE_LIMITED", "Too many requests.", 429, {})
STALE = UnverifiedTransaction("order index", "a request that looks as order 2 does", 16)


def order(text: str) -> Any:
    """Returns an order that is written as its id and its status; without a status it rests."""
    id, _, status = text.partition(" ")
    reason = "SLIPPAGE" if status == "rejected" else None
    return {"id": id, "status": status or "open", "reduceOnly": False, "reason": reason}


class Ending(unittest.TestCase):
    def setUp(self) -> None:
        url = "http://127.0.0.1:1"
        client: Any = AsyncClient(url, chain="base", agent=KEY, rpc_url=url, io=Blocking())
        self.client = client
        self.asked: list[str | None] = []
        self.sent = 0
        self.pages: list[Any] = []
        self.checks: list[BezelError | None] = []
        """Outcomes of the checks of pages, in their order; then all pass."""
        self.sends: list[BezelError | None] = []
        self.failures: list[BezelError | None] = []
        """Outcomes of the transactions, in the order of waiting; then all are mined."""
        self.alone: dict[str, BezelError] = {}
        """Refusals of what is ended alone, by id."""
        self.orders: list[Any] = []
        self.positions: list[Any] = []
        self.open_until = 10**9
        """Pages after which nothing is open any more."""
        self.states: dict[str, list[str]] = {}
        """Statuses of orders in the order of reading. The last one stays."""
        self.reads: list[BezelError | None] = []
        """Outcomes of the readings of orders and positions, in their order; then all succeed."""
        self.replace_client(client)
        for name, value in (("FIRST_PAUSE_S", 0.0), ("PRESS_S", 0.0), ("verify_batch", self.check)):
            self.addCleanup(setattr, bezel.ending, name, getattr(bezel.ending, name))
            setattr(bezel.ending, name, value)

    def replace_client(self, client: Any) -> None:
        """Puts a service and a node in place that this test writes."""

        async def ready() -> Any:
            return KEY, None

        async def batch_facts(*_: Any) -> Any:
            return {}

        async def send(*_: Any) -> str:
            self.fail_with(self.sends)
            self.sent += 1
            return f"0x{self.sent}"

        async def mined(tx_hash: str) -> str:
            self.fail_with(self.failures)
            return tx_hash

        async def execute(_write: Any, prepare: Any, _price: Any) -> Any:
            return await prepare(), await send()

        async def prepare_page(body: Any) -> Any:
            self.asked.append(body.get("next"))
            page = self.pages.pop(0)
            if isinstance(page, BezelError):
                raise page
            return page

        async def prepare_alone(id: str, *_: Any) -> Any:
            self.asked.append(f"end {id}")
            if id in self.alone:
                raise self.alone[id]
            return {"order": order(f"{id}0 prepared")}

        async def list_open_orders() -> Any:
            return {"data": self.orders if len(self.asked) < self.open_until else []}

        async def list_positions() -> Any:
            self.fail_with(self.reads)
            return {"data": self.positions if len(self.asked) < self.open_until else []}

        async def get_order(id: str) -> Any:
            self.fail_with(self.reads)
            states = self.states.get(id, ["open"])
            return order(f"{id} {states.pop(0) if len(states) > 1 else states[0]}")

        async def get_position(id: str) -> Any:
            return {"id": id}

        api = client.api
        client._ready, client._send_prepared, client._mined, client._execute = ready, send, mined, execute
        client._gatherer.batch_facts = batch_facts
        api.flatten = api.close_all_positions = prepare_page
        api.cancel_order = api.close_position = prepare_alone
        api.list_open_orders, api.list_positions = list_open_orders, list_positions
        api.get_order, api.get_position = get_order, get_position

    def fail_with(self, outcomes: list[BezelError | None]) -> None:
        failure = outcomes.pop(0) if outcomes else None
        if failure is not None:
            raise failure

    def check(self, page: Any, *_: Any) -> set[str]:
        self.fail_with(self.checks)
        return set(page["closes"])

    def page(self, *orders: str, next: str | None = None, closes: Any = (), left_out: Any = ("9",)) -> Any:
        left = [{"id": id, "code": "SIMULATION_REVERTED", "message": "It waits."} for id in left_out]
        return {
            "orders": [order(text) for text in orders],
            "leftOut": left,
            "transaction": {"expiresAt": 1},
            "next": next,
            "closes": closes,
        }

    def ids(self, orders: list[Any]) -> list[str]:
        return [one["id"] for one in orders]

    def test_a_page_that_reverts_is_prepared_again_and_the_others_follow(self) -> None:
        self.pages = [self.page("1 expired", "2", "3", next="o3"), self.page("3", next="o3"), self.page("4")]
        self.failures = [TransactionReverted("0x1")]
        ended = run_now(self.client.flatten())
        self.assertEqual(self.asked, [None, None, "o3"])
        self.assertEqual(self.ids(ended.orders), ["1", "3", "4"])
        self.assertEqual((ended.tx_hashes, len(ended.left_out)), (["0x1", "0x2", "0x3"], 2))

    def test_a_page_that_no_longer_fits_is_read_and_prepared_again(self) -> None:
        for failing, failure in (
            (self.checks, STALE),
            (self.sends, NodeError("eth_estimateGas", "execution reverted")),
            (self.sends, PreparationExpired("It has expired.")),
        ):
            self.asked.clear()
            failing.append(failure)
            # The service withdraws the close that was prepared in vain.
            self.pages = [self.page("1 expired", "2", "20 prepared"), self.page("20 expired", "2", "21 prepared")]
            ended = run_now(self.client.flatten())
            self.assertEqual((self.ids(ended.orders), self.asked), (["1", "2", "21"], [None, None]))
            self.assertEqual((self.ids(ended.left_out), len(ended.tx_hashes)), (["9"], 1))

    def test_what_never_fits_is_ended_one_by_one_and_holds_up_nothing(self) -> None:
        stuck = self.page("2", "20 prepared", next="o3")
        self.pages = [*[stuck] * MAX_TRIES, self.page("3", "21 prepared", closes=["8"], left_out=())]
        self.checks = [STALE] * MAX_TRIES
        self.orders = [order("2"), order("3"), order("4"), order("9 pending"), order("20 prepared")]
        self.positions = [{"id": id} for id in ("6", "7", "8")]
        self.alone = {"2": STALE, "6": api_error("POSITION_NOT_FOUND", "It is gone.", 404, {})}
        ended = run_now(self.client.flatten())
        self.assertEqual(self.asked, [*[None] * MAX_TRIES, "o3", "end 2", "end 4", "end 6", "end 7"])
        self.assertEqual(self.ids(ended.orders), ["3", "21", "40", "70"])
        self.assertEqual(ended.tx_hashes, ["0x1", "0x2", "0x3"])
        named = [(one["id"], one["code"]) for one in ended.left_out]
        self.assertEqual(named, [("9", "SIMULATION_REVERTED"), ("2", "UNVERIFIED_TRANSACTION")])

    def test_what_has_ended_by_itself_or_reverts_alone_is_told_apart(self) -> None:
        self.pages, self.checks = [self.page("2")] * MAX_TRIES, [STALE] * MAX_TRIES
        self.orders, self.positions = [order("2"), order("4")], [{"id": "7"}]
        self.states = {"2": ["filled"]}
        self.failures = [None, TransactionReverted("0x2")]
        ended = run_now(self.client.flatten())
        self.assertEqual((self.ids(ended.orders), ended.tx_hashes), (["40"], ["0x1", "0x2"]))
        self.assertEqual([one["code"] for one in ended.left_out], ["SIMULATION_REVERTED", "TRANSACTION_REVERTED"])

    def test_a_batch_of_which_nothing_could_be_sent_is_an_error(self) -> None:
        self.pages, self.checks = [self.page("2")] * MAX_TRIES, [STALE] * MAX_TRIES
        self.orders, self.alone = [order("2")], {"2": STALE}
        with self.assertRaises(UnverifiedTransaction):
            run_now(self.client.flatten())

    def test_a_batch_of_positions_never_ends_an_order(self) -> None:
        self.pages, self.checks, self.orders = [self.page("2")] * MAX_TRIES, [STALE] * MAX_TRIES, [order("2")]
        with self.assertRaises(UnverifiedTransaction):
            run_now(self.client.close_all())
        self.assertEqual(self.asked, [None] * MAX_TRIES)

    def test_an_interrupted_batch_says_what_was_sent(self) -> None:
        self.pages = [self.page("2", next="o2"), NetworkError("gone")]
        with self.assertRaisesRegex(BatchInterrupted, "1 transaction was sent") as caught:
            run_now(self.client.flatten())
        self.assertIsInstance(caught.exception.__cause__, NetworkError)
        self.assertEqual((self.ids(caught.exception.ended.orders), caught.exception.undone), (["2"], []))
        self.pages, self.failures = [self.page("2", next="o2")], [WaitTimeout("It was not mined.")]
        with self.assertRaisesRegex(BatchInterrupted, "1 transaction was sent.* not mined") as unmined:
            run_now(self.client.flatten())
        self.assertEqual(self.ids(unmined.exception.ended.orders), ["2"])
        self.pages = [NetworkError("gone")]
        with self.assertRaises(NetworkError):
            run_now(self.client.flatten())

    def test_an_interruption_while_things_are_ended_alone_names_what_is_not_done(self) -> None:
        self.pages, self.failures = [self.page("2")] * MAX_TRIES, [TransactionReverted("0x1")] * MAX_TRIES
        self.orders, self.alone = [order("2")], {"2": NetworkError("gone")}
        with self.assertRaisesRegex(BatchInterrupted, "4 transactions were sent.*: gone.*Not done: order 2,") as caught:
            run_now(self.client.flatten())
        self.assertEqual((caught.exception.ended.orders, self.ids(caught.exception.undone)), ([], ["2"]))

    def test_waiting_repeats_it_until_nothing_is_open(self) -> None:
        self.pages = [self.page("2", "20 prepared", left_out=()), self.page("21 prepared", left_out=())]
        self.states = {"2": ["open", "canceled"], "20": ["pending", "rejected"], "21": ["filled"]}
        self.positions, self.open_until = [{"id": "7"}], 2
        ended = run_now(self.client.flatten(wait=True, timeout_s=60, poll_s=0))
        self.assertEqual([one["status"] for one in ended.orders], ["canceled", "rejected", "filled"])
        self.assertEqual((ended.left_out, ended.tx_hashes), ([], ["0x1", "0x2"]))

    def test_waiting_outlasts_a_batch_that_did_not_fit_at_all(self) -> None:
        self.pages = [*[self.page("2")] * MAX_TRIES, self.page("2", left_out=())]
        self.checks, self.states = [STALE] * MAX_TRIES, {"2": ["canceled"]}
        self.orders, self.open_until = [order("2 prepared")], MAX_TRIES + 1
        ended = run_now(self.client.flatten(wait=True, timeout_s=60, poll_s=0))
        self.assertEqual((self.ids(ended.orders), len(self.asked)), (["2"], MAX_TRIES + 1))

    def test_waiting_ends_in_time_and_names_what_is_open(self) -> None:
        self.pages, self.states = [self.page("20 prepared")], {"20": ["rejected"]}
        self.positions = [{"id": "7"}, {"id": "9"}]
        with self.assertRaisesRegex(BatchNotDone, r" 7 \(BATCH_NOT_DONE\), 9 \(SIMUL.* refused: 20 \(SLIP") as late:
            run_now(self.client.close_all(wait=True, timeout_s=0, poll_s=0))
        self.assertEqual(self.ids(late.exception.ended.left_out), ["7", "9"])
        self.assertIsInstance(late.exception, WaitTimeout)

    def test_waiting_outlasts_what_passes(self) -> None:
        one, two = self.page("20 prepared", left_out=()), self.page("21 prepared", left_out=(), next="p1")
        three = self.page("22 prepared", left_out=())
        # The third round is interrupted after its first page.
        self.pages = [NetworkError("gone"), one, BUSY, two, NetworkError("gone"), three]
        self.states = {id: ["pending", "filled"] for id in ("20", "21", "22")}
        # The readings of a round: targets of its page, then the order twice, then what is left.
        self.reads = [None, None, None, None, BUSY, None, NetworkError("gone")]
        self.positions, self.open_until = [{"id": "7"}], len(self.pages)
        ended = run_now(self.client.close_all(wait=True, timeout_s=60, poll_s=0))
        self.assertEqual([(one["id"], one["status"]) for one in ended.orders], [(id, "filled") for id in self.states])
        self.assertEqual((ended.left_out, ended.tx_hashes), ([], ["0x1", "0x2", "0x3"]))
        self.assertEqual((self.pages, self.reads), ([], []))

    def test_waiting_that_is_interrupted_says_what_was_sent(self) -> None:
        refusal = api_error("AGENT_REVOKED", "The agent was revoked.", 403, {})
        for following, sent in (([refusal], ["20"]), ([self.page("21", next="p1"), refusal], ["20", "21"])):
            self.sent, self.pages = 0, [self.page("20 prepared", left_out=()), *following]
            self.states, self.positions = {"20": ["filled"]}, [{"id": "7"}]
            with self.assertRaises(BatchInterrupted) as caught:
                run_now(self.client.close_all(wait=True, timeout_s=60, poll_s=0))
            self.assertIs(caught.exception.__cause__, refusal)
            self.assertEqual(self.ids(caught.exception.ended.orders), sent)
            self.assertEqual(caught.exception.ended.orders[0]["status"], "filled")
            self.assertEqual(caught.exception.ended.tx_hashes, ["0x1", "0x2"][: len(sent)])

    def test_waiting_without_a_view_of_the_account_says_what_was_sent(self) -> None:
        for readings in (1, 2):
            self.sent, self.pages, self.states = 0, [self.page("20 prepared")], {"20": ["filled"]}
            self.reads = [*[None] * readings, NetworkError("gone")]
            with self.assertRaisesRegex(BatchInterrupted, "1 transaction was sent.*gone") as caught:
                run_now(self.client.close_all(wait=True, timeout_s=0, poll_s=0))
            self.assertEqual((self.ids(caught.exception.ended.orders), self.reads), (["20"], []))

    def test_waiting_for_a_batch_of_which_nothing_was_sent_raises_the_error_itself(self) -> None:
        self.pages, self.reads = [NetworkError("gone")], [None, NetworkError("gone")]
        with self.assertRaises(NetworkError):
            run_now(self.client.close_all(wait=True, timeout_s=0, poll_s=0))
        self.pages = [api_error("AGENT_REVOKED", "The agent was revoked.", 403, {})]
        with self.assertRaisesRegex(BezelError, "AGENT_REVOKED"):
            run_now(self.client.close_all(wait=True, timeout_s=60, poll_s=0))
