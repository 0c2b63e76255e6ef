const EXECUTED = [
  'MARKET_OPEN',
  'MARKET_CLOSE',
  ...['LIMIT_OPEN', 'STOP_OPEN', 'TP_CLOSE', 'SL_CLOSE', 'LIQ_CLOSE'].flatMap((type) => [
    `${type} exactly`,
    `${type} at the open`,
  ]),
  'leverage up',
  'leverage down',
  'increase with collateral',
  'increase of leverage',
  'decrease of collateral',
  'decrease of leverage',
]

const REFUSED = [
  ...['SLIPPAGE', 'TP_REACHED', 'SL_REACHED', 'EXPOSURE_LIMITS', 'PRICE_IMPACT', 'MAX_LEVERAGE', 'LIQ_REACHED'].map(
    (reason) => `MARKET_OPEN: ${reason}`,
  ),
  'MARKET_OPEN: COUNTER_TRADE_CANCELED',
  ...['SLIPPAGE', 'NO_TRADE', 'LIQ_REACHED'].map((reason) => `anything on a position: ${reason}`),
  ...['LIMIT_OPEN', 'STOP_OPEN', 'TP_CLOSE', 'SL_CLOSE', 'LIQ_CLOSE'].map((type) => `${type}: NOT_HIT`),
  'SL_CLOSE: SLIPPAGE',
  'TP_CLOSE: NO_TRADE',
]

const SENT = [
  'open market',
  'open limit',
  'open stop',
  'open counter trade',
  'close',
  'update tp',
  'update sl',
  'update closing slippage',
  'leverage up',
  'leverage down',
  'increase with collateral',
  'increase of leverage',
  'decrease of collateral',
  'decrease of leverage',
  'take off most of a winner',
  'absurd change',
  'update open order',
  'cancel open order',
  'reclaim',
  'multicall',
  'multicall by a delegate',
  'open market by a delegate',
  'close by a delegate',
]

const HOSTILE = [
  'AboveMax',
  'ConflictingPendingOrder',
  'DelegateNotApproved',
  'DelegatedActionNotAllowed',
  'DoesntExist',
  'ERC20InsufficientBalance',
  'InsufficientCollateral',
  'InvalidCandle',
  'NotMinter',
  'OnlyDiamond',
  'PendingTrigger',
  'PriceZero',
  'SourceNotOracleOfRequest',
  'WrongAccess',
  'WrongLeverage',
  'WrongOrderType',
  'WrongTradeType',
]

/**
 * Events that a campaign of a thousand steps must cover, so that a change of the actions can't silently lose a path.
 */
export const WANTED_COVERAGE: readonly string[] = [
  ...EXECUTED.map((what) => `executed ${what}`),
  ...REFUSED.map((what) => `refused ${what}`),
  ...SENT.map((what) => `sent ${what}: ok`),
  ...HOSTILE.map((error) => `hostile ${error}`),
  'stopped Paused',
  'late answer ok',
  'late answer DoesntExist',
  'reclaimed collateral',
  'advanced a fee',
  'advanced collateral',
  'paid funding',
  'paid out funding',
  'paid borrowing',
  'paid borrowing per block',
  'paid a discounted fee',
  'paid holding fees to the vault',
  'scaled a record down',
  'sent a loss to the vault',
  'paid more than twice the collateral',
]
