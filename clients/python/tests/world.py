"""The world that `npm test` starts: the real service, the local chain, and a trader for each class of tests."""

import json
import unittest
import urllib.request
import uuid
from typing import Any

from bezel import Client, PrivateKey
from bezel.calls import Caller, Operation
from bezel.types import Fill

from .cases import world

SOON: Any = {"poll_s": 0.1, "timeout_s": 600.0}
MARKET: Any = {"market": "BTC/USD", "side": "long", "type": "market", "size": "0.01", "leverage": "10"}

CALLED: set[str] = set()
"""Operations that were called, whatever was answered."""

_call = Caller.call


async def _recorded(self: Caller, operation: Operation, **more: Any) -> Any:
    CALLED.add(operation.id)
    return await _call(self, operation, **more)


Caller.call = _recorded


def account(name: str) -> PrivateKey:
    return PrivateKey(world()["accounts"][name]["privateKey"])


def options(number: int, **more: Any) -> Any:
    of = world()
    given = {
        "agent": account(f"agent-{number}"),
        "trader": account(f"trader-{number}").address,
        "rpc_url": of["rpcUrl"],
        "diamond": of["diamond"],
        # A busy machine leaves the service behind its chain at times.
        "timeout_s": 120.0,
        "max_retries": 60,
    }
    return {**given, **more}


def control(action: str) -> None:
    """Does what only the owner of the service can do."""
    urllib.request.urlopen(f"{world()['controlUrl']}/{action}", timeout=300).read()


def chain(method: str, *params: Any) -> None:
    """Calls a control of the local chain."""
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
    request = urllib.request.Request(world()["rpcUrl"], body, {"content-type": "application/json"})
    answer = json.loads(urllib.request.urlopen(request, timeout=300).read())
    assert "error" not in answer, answer


def everything(client: Client) -> list[Any]:
    """Returns the whole log of the account over REST."""
    events: list[Any] = []
    while True:
        page = client.api.list_events(after=len(events), limit=500)
        events += page["data"]
        if len(events) >= page["lastSeq"]:
            return events


class World(unittest.TestCase):
    """A trader with a delegated agent. Each class has its own."""

    account_number = 1
    client: Client

    @classmethod
    def setUpClass(cls) -> None:
        base_url = world()["baseUrl"]
        cls.client = Client(base_url, **options(cls.account_number))
        cls.client.authorize(account(f"trader-{cls.account_number}"), name="python")
        cls.client.delegate(account(f"trader-{cls.account_number}"), **SOON)

    @classmethod
    def tearDownClass(cls) -> None:
        cls.client.close()

    def fill(self, body: Any = MARKET) -> Fill:
        order = self.client.open_order({**body, "clientId": str(uuid.uuid4())})
        return self.client.wait_for_fill(order["id"], **SOON)

    def position(self) -> str:
        return str(self.fill()["positionId"])
