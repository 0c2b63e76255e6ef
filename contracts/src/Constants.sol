// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

// Enums of the live Diamond as uint8 constants: an unknown value then meets our own check and its named error, not a panic.

uint8 constant TRADE = 0;
uint8 constant LIMIT = 1;
uint8 constant STOP = 2;

uint8 constant MARKET_OPEN = 0;
uint8 constant MARKET_CLOSE = 1;
uint8 constant LIMIT_OPEN = 2;
uint8 constant STOP_OPEN = 3;
uint8 constant TP_CLOSE = 4;
uint8 constant SL_CLOSE = 5;
uint8 constant LIQ_CLOSE = 6;
uint8 constant UPDATE_LEVERAGE = 7;
uint8 constant MARKET_PARTIAL_OPEN = 8;
uint8 constant MARKET_PARTIAL_CLOSE = 9;

uint8 constant CANCEL_NONE = 0;
uint8 constant CANCEL_SLIPPAGE = 3;
uint8 constant CANCEL_TP_REACHED = 4;
uint8 constant CANCEL_SL_REACHED = 5;
uint8 constant CANCEL_EXPOSURE_LIMITS = 6;
uint8 constant CANCEL_PRICE_IMPACT = 7;
uint8 constant CANCEL_MAX_LEVERAGE = 8;
uint8 constant CANCEL_NO_TRADE = 9;
uint8 constant CANCEL_WRONG_TRADE = 10;
uint8 constant CANCEL_NOT_HIT = 11;
uint8 constant CANCEL_LIQ_REACHED = 12;
uint8 constant CANCEL_COUNTER_TRADE = 13;

uint8 constant ACTIVATED = 0;
uint8 constant CLOSE_ONLY = 1;
uint8 constant PAUSED = 2;

uint8 constant COUNTER_TRADE_INDEX = 0;
uint8 constant COUNTER_PENDING_ORDER = 1;

uint8 constant VERSION_V10 = 2;

uint8 constant ENROLLMENT_EXCLUDED = 1; // pays the raw fee whatever its points

uint8 constant ROLE_GOV_TIMELOCK = 0;
uint8 constant ROLE_GOV = 1;
uint8 constant ROLE_MANAGER = 2;

uint256 constant P_10 = 1e10;
uint256 constant MAX_MULTICALL = 20;
uint256 constant DEPTH_BANDS = 30;
uint256 constant MIN_COLLATERAL_FEES_ON_OPEN = 5; // collateral of a new trade covers at least this many minimum fees
uint256 constant MAX_IMPACT_LOSS_P = 40e10; // spread and impact may cost at most 40 % of the collateral at open
uint256 constant MIN_LEVERAGE = 100; // 0.1x
uint256 constant DEFAULT_CLOSING_SLIPPAGE_P = 1000; // 1 %
uint256 constant LEGACY_LIQ_THRESHOLD_P = 90e10;
uint256 constant SL_LIQ_BUFFER_P = 5e10; // a stop loss stays this far (in PnL) inside the liquidation threshold
uint256 constant ORACLE_ANSWER_TTL_S = 1 hours; // an older request can no longer be answered
uint256 constant TRIGGER_LINK_FEE = 1e18;
int256 constant LIQUIDATED_PNL_P = -100e10;
int256 constant SECONDS_PER_YEAR = 31536000;
