"""Signatures and transactions of viem, and the verdicts of the TypeScript SDK about prepared transactions."""

import unittest
from typing import Any

from bezel import UnverifiedTransaction
from bezel.facts import (
    CancelOrder,
    CancelPositionUpdate,
    ChainFacts,
    ClosePosition,
    CollateralFacts,
    CreateOrder,
    Facts,
    MarketFacts,
    PendingFacts,
    TradeFacts,
    UpdateOrder,
    UpdatePosition,
    Write,
)
from bezel.signing import PrivateKey, request_digest, signature_text
from bezel.transactions import Transaction, hash_of
from bezel.verify import verify_prepared

from .cases import cases


class Viem(unittest.TestCase):
    def test_signs_requests_with_the_same_bytes(self) -> None:
        for case in cases()["signatures"]:
            key, message = PrivateKey(case["key"]), case["message"]
            digest = request_digest(
                case["domain"],
                "createOrder",
                method=message["method"],
                path=message["path"],
                body=bytes.fromhex(case["body"]),
                timestamp=int(message["timestamp"]),
                nonce=int(message["nonce"]),
            )
            self.assertEqual(key.address, case["address"])
            self.assertEqual(signature_text(key.sign(digest)), case["signature"])

    def test_signs_transactions_with_the_same_bytes(self) -> None:
        for case in cases()["transactions"]:
            of = case["transaction"]
            transaction = Transaction(
                of["chainId"],
                of["nonce"],
                int(of["maxPriorityFeePerGas"]),
                int(of["maxFeePerGas"]),
                int(of["gas"]),
                of["to"],
                of["data"],
            )
            raw = transaction.signed(PrivateKey(case["key"]))
            self.assertEqual(raw, case["raw"])
            self.assertEqual(hash_of(raw), case["hash"])


class Sdk(unittest.TestCase):
    def test_accepts_and_refuses_the_same_transactions(self) -> None:
        accepted = 0
        found = cases()["verify"]
        for case in found:
            verdict = "accepted"
            try:
                verify_prepared(_write(case["request"]), case["prepared"], _facts(case["context"]))
                accepted += 1
            except UnverifiedTransaction as error:
                verdict = str(error)
            self.assertEqual(verdict == "accepted", case["isAccepted"], f"{case['name']}: {verdict}")
        self.assertGreater(accepted, 100)
        self.assertGreater(len(found) - accepted, 2_000)


def _write(request: Any) -> Write:
    kinds: dict[str, Any] = {
        "createOrder": CreateOrder,
        "updateOrder": UpdateOrder,
        "cancelOrder": CancelOrder,
        "closePosition": ClosePosition,
        "updatePosition": UpdatePosition,
        "cancelPositionUpdate": CancelPositionUpdate,
    }
    found: Write = kinds[request["operation"]](**{key: of for key, of in request.items() if key != "operation"})
    return found


def _facts(context: Any) -> Facts:
    market, collateral, chain = context["market"], context["collateral"], context.get("onChain")
    return Facts(
        diamond=context["diamond"],
        chain_id=context["chainId"],
        trader=context["trader"],
        sender=context["sender"],
        market=MarketFacts(market["symbol"], market["pairIndex"], market["sizePrecision"], market["minCollateralUsd"]),
        collateral=CollateralFacts(
            collateral["symbol"],
            collateral["index"],
            collateral["decimals"],
            collateral["priceUsd"],
            collateral["priceTolerancePercent"],
        ),
        expected_price=context.get("expectedPrice"),
        impact_p=None if context.get("impactP") is None else int(context["impactP"]),
        positions=tuple(context.get("positions", ())),
        on_chain=None
        if chain is None
        else ChainFacts(tuple(map(_trade, chain["trades"])), tuple(map(_pending, chain["pending"]))),
    )


def _trade(of: Any) -> TradeFacts:
    return TradeFacts(
        index=of["index"],
        pair_index=of["pairIndex"],
        long=of["long"],
        collateral_index=of["collateralIndex"],
        trade_type=of["tradeType"],
        collateral_amount=int(of["collateralAmount"]),
        leverage=of["leverage"],
        open_price=int(of["openPrice"]),
        tp=int(of["tp"]),
        sl=int(of["sl"]),
        max_slippage_p=of["maxSlippageP"],
        size=None if of.get("size") is None else int(of["size"]),
    )


def _pending(of: Any) -> PendingFacts:
    return PendingFacts(of["index"], of["pairIndex"], of["tradeIndex"], of["long"], of["orderType"])
