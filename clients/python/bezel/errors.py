"""Errors of this package. `bezel.refusals` has one class for each code of the service."""

from __future__ import annotations

from typing import Any, ClassVar


class BezelError(Exception):
    """Any error of this package."""

    code: str = "BEZEL_ERROR"
    """Stable name of the error: the code of the service's refusal, or that of a class of this module."""
    retryable: ClassVar[bool] = False
    """True when the same call may be sent again after a pause."""


class ApiError(BezelError):
    """A refusal of the service. `bezel.refusals` has a class for each code, so `except RateLimited` works."""

    code: str
    details: Any
    """The numbers that the message quotes. Each class of `bezel.refusals` says which."""

    def __init__(self, code: str, message: str, *, status: int | None, details: dict[str, Any]) -> None:
        super().__init__(" ".join([f"{code}: {message}", *_advice(code, message, details)]))
        self.code = code
        self.message = message
        """Words for people. They change, so never compare them."""
        self.status = status
        """HTTP status; `None` for an error of the stream."""
        self.details = details
        self.request_id: str | None = details.get("requestId")
        """The id that finds the request in the log of the service."""
        self.retry_after_s = 0.0
        """Seconds that the service asks to wait, where it does."""


_HINTS = {
    "AGENT_UNKNOWN": "client.authorize(wallet) registers it, then client.delegate(wallet) lets it trade.",
    "AGENT_REVOKED": "client.authorize(wallet) registers it again.",
    "AGENT_EXPIRED": "client.authorize(wallet, scope=...) gives it another expiresAt.",
    "AGENT_NOT_DELEGATED": "client.delegate(wallet) sends the delegation and waits.",
    "TRADER_MISMATCH": "Give the client trader=, the wallet that authorised this agent or key; "
    "authorize(wallet) with the agent's own key moves an agent to another wallet.",
    "TIMESTAMP_OUT_OF_WINDOW": "Compare your clock with client.api.get_time().",
}
"""The methods of this package that remedy a refusal. The service does not know them."""


def _advice(code: str, message: str, details: dict[str, Any]) -> list[str]:
    """Returns the sentence that says what to do: in terms of this package, else as the service says it."""
    scope = "client.authorize(wallet, scope=...) replaces the scope." if code.startswith("SCOPE_") else None
    found = _HINTS.get(code, scope) or details.get("remedy")
    return [found] if isinstance(found, str) and found not in message else []


class NetworkError(BezelError):
    """No answer, or one that is not of the interface. A write may or may not have been done."""

    code = "NETWORK_ERROR"
    retryable = True


class ConfigError(BezelError):
    """The client lacks something that the call needs, or was given something that does not fit."""

    code = "CONFIG_ERROR"


class UnverifiedTransaction(BezelError):
    """The service prepared something else than what was asked for. Nothing was signed."""

    code = "UNVERIFIED_TRANSACTION"

    def __init__(self, field: str, expected: object, found: object) -> None:
        super().__init__(
            f"The prepared transaction does not do what was asked: {field} should be {expected}, and is {found}. "
            "Nothing was signed."
        )
        self.field = field
        self.expected = str(expected)
        self.found = str(found)


class PreparationExpired(BezelError):
    """The prepared transaction is no longer valid. Prepare again."""

    code = "PREPARATION_EXPIRED"


_REVERT_REMEDY = (
    ". It would do nothing now, and nothing was sent: something has changed since it was prepared, for instance by "
    "another transaction of yours that is on its way. Read the order or the position, and ask again."
)


def _is_revert(method: str, message: str) -> bool:
    return method == "eth_estimateGas" and "revert" in message.lower()


class NodeError(BezelError):
    """The node of the chain refused a call."""

    code = "NODE_FAILED"

    def __init__(self, method: str, message: str, rpc_code: int | None = None) -> None:
        super().__init__(f"The node refused {method}: {message}{_REVERT_REMEDY if _is_revert(method, message) else ''}")
        self.method = method
        self.rpc_code = rpc_code
        """Number of the error in JSON-RPC, where the node names one."""


class TransactionReverted(BezelError):
    """A transaction was mined and reverted."""

    code = "TRANSACTION_REVERTED"

    def __init__(self, tx_hash: str) -> None:
        super().__init__(f"Transaction {tx_hash} was mined and reverted.")
        self.tx_hash = tx_hash


class SubmitFailed(BezelError):
    """The transaction was sent, but could not be reported. Do not send it again: the service finds it on the chain."""

    code = "SUBMIT_REPORT_FAILED"

    def __init__(self, order_id: str, tx_hash: str) -> None:
        super().__init__(
            f"Transaction {tx_hash} of order {order_id} was sent, but reporting it failed. Do not send it again: "
            "the service finds it on the chain."
        )
        self.order_id = order_id
        self.tx_hash = tx_hash


class BatchInterrupted(BezelError):
    """A batch ended before its last page. Repeat it for the rest; what was sent goes on by itself."""

    code = "BATCH_INTERRUPTED"

    def __init__(self, ended: Any, undone: list[Any], cause: BaseException) -> None:
        count = len(ended.tx_hashes)
        sent = "1 transaction was" if count == 1 else f"{count} transactions were"
        left = (
            f" Ended or under way: {_ids_of(ended.orders)}. Not done: {_ids_of(undone)}, and what follows."
            if undone
            else ""
        )
        super().__init__(f"{sent} sent, then it was interrupted: {cause}{left} Repeat it for the rest.")
        self.ended = ended
        """The part that was sent, as `flatten` returns it. Of `orders`, those of reverted pages are left away."""
        self.undone = undone
        """Orders of pages that were given up, and that were not ended one by one before the interruption."""


def _ids_of(orders: list[Any]) -> str:
    if not orders:
        return "no order"
    return ("order " if len(orders) == 1 else "orders ") + ", ".join(order["id"] for order in orders)


class OrderNotFilled(BezelError):
    """The order ended without a fill: rejected, canceled, expired or timed out. `order` is the order as it ended."""

    code = "ORDER_NOT_FILLED"

    def __init__(self, order: Any) -> None:
        reason = "" if order["reason"] is None else f" ({order['reason']})"
        super().__init__(f"Order {order['id']} is {order['status']}{reason}. {_ENDS.get(order['status'], '')}".rstrip())
        self.order = order


_ENDS = {
    "rejected": "The contracts refused it.",
    "expired": "Its transaction was not mined in time, or it was withdrawn.",
    "timed_out": "The oracle did not answer in time, and a late answer may still fill it: cancel_order(id) reclaims "
    "what it holds.",
}


class PositionUpdateRefused(BezelError):
    """The contracts refused a change of leverage or collateral. The notifications of the account say why."""

    code = "POSITION_UPDATE_REFUSED"

    def __init__(self, position_id: str, tx_hash: str) -> None:
        super().__init__(
            f"The contracts refused the change of position {position_id} ({tx_hash}). "
            "client.api.list_notifications() says why."
        )
        self.position_id = position_id
        self.tx_hash = tx_hash


class WaitTimeout(BezelError):
    """Something did not happen in the time that was given. It may still happen."""

    code = "WAIT_TIMEOUT"


class BatchNotDone(WaitTimeout):
    """Something is still open when the time of `flatten(wait=True)` is over. What was sent goes on by itself."""

    code = "BATCH_NOT_DONE"

    def __init__(self, ended: Any, timeout_s: float) -> None:
        left = ", ".join(f"{one['id']} ({one['code']})" for one in ended.left_out)
        refused = [f"{order['id']} ({order['reason']})" for order in ended.orders if order["status"] == "rejected"]
        closes = f" Closes that the contracts refused: {', '.join(refused)}." if refused else ""
        super().__init__(
            f"After {timeout_s:g} s there is still open: {left}.{closes} What was sent goes on by itself: call it "
            "again."
        )
        self.ended = ended
        """The outcome so far, with what is still open in `left_out`."""


class LogGap(BezelError):
    """The service no longer keeps the events that come next. Read the account anew, then follow from its end."""

    code = "LOG_GAP"
