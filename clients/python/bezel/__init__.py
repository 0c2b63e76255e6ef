"""Client of Bezel, the open non-custodial trading service."""

from .blocking import Client
from .client import AsyncClient
from .contracts import CHAINS
from .decimals import add, mul, number, plain, round_price, round_size, sub
from .ending import Ended, LeftOpen
from .errors import (
    ApiError,
    BatchInterrupted,
    BatchNotDone,
    BezelError,
    ConfigError,
    LogGap,
    NetworkError,
    NodeError,
    OrderNotFilled,
    PositionUpdateRefused,
    PreparationExpired,
    SubmitFailed,
    TransactionReverted,
    UnverifiedTransaction,
    WaitTimeout,
)
from .feed import AsyncFeed, Feed
from .signing import PrivateKey, Signer, SigningDomain
from .stream import LOG_CHANNELS, Topic
from .wallet import FULL_SCOPE, ScopeLimits
from .writes import ENDED

__all__ = [
    "CHAINS",
    "ENDED",
    "FULL_SCOPE",
    "LOG_CHANNELS",
    "ApiError",
    "AsyncClient",
    "AsyncFeed",
    "BatchInterrupted",
    "BatchNotDone",
    "BezelError",
    "Client",
    "ConfigError",
    "Ended",
    "Feed",
    "LeftOpen",
    "LogGap",
    "NetworkError",
    "NodeError",
    "OrderNotFilled",
    "PositionUpdateRefused",
    "PreparationExpired",
    "PrivateKey",
    "ScopeLimits",
    "Signer",
    "SigningDomain",
    "SubmitFailed",
    "Topic",
    "TransactionReverted",
    "UnverifiedTransaction",
    "WaitTimeout",
    "add",
    "mul",
    "number",
    "plain",
    "round_price",
    "round_size",
    "sub",
]
