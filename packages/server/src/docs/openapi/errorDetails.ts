import type { ErrorCode } from '@bezel/protocol'

/** What `details` of an error holds. Fields that are not named here may come and go. */
export const ERROR_DETAILS: Readonly<Partial<Record<ErrorCode, Readonly<Record<string, string>>>>> = {
  VALIDATION_ERROR: { issues: 'list of `{path, message}`, one for each fault' },
  TIMESTAMP_OUT_OF_WINDOW: { serverTime: "the server's clock, epoch ms" },
  AGENT_NOT_DELEGATED: { delegationTx: '`{to, data, chainId}` for the trader to send' },
  SCOPE_MARKET_NOT_ALLOWED: { market: 'which', markets: 'those the scope names' },
  SCOPE_LEVERAGE_EXCEEDED: { leverage: 'what was asked', maxLeverage: "the scope's" },
  SCOPE_SPEND_CAP_EXCEEDED: {
    notionalUsd: 'what was asked',
    spentUsd: 'opened today, UTC',
    dailySpendCapUsd: "the scope's",
  },
  CHAIN_NOT_FOUND: { chains: 'the chains that are served' },
  IDEMPOTENCY_CONFLICT: { clientId: 'which', differing: 'the fields that are not the same' },
  ORDER_NOT_MODIFIABLE: { id: 'which', status: 'as it is now' },
  TOO_MANY_PREPARED_ORDERS: { limit: 'how many are allowed' },
  PRECISION_ERROR: { field: 'which', value: 'what was sent', maxDecimals: 'how many decimals are allowed' },
  LEVERAGE_OUT_OF_RANGE: { leverage: 'what was asked', minLeverage: 'the least', maxLeverage: 'the most' },
  SIZE_BELOW_MINIMUM: {
    notionalUsd: 'size × price',
    minPositionUsd: 'the least notional',
    collateralUsd: 'the collateral it comes to',
    minCollateralUsd: 'the least collateral',
  },
  MARKET_CLOSED: { market: 'which' },
  COLLATERAL_NOT_SUPPORTED: { collateral: 'which', supported: 'those that can be used' },
  SIMULATION_REVERTED: { errorName: 'custom error of the contracts, or null', calldata: 'the inner call, to replay' },
  RATE_LIMITED: { scope: '`ip`, `agent` or `agent-writes`' },
  NOT_READY: {
    reason: '`starting`, `feed_stale`, `chain_lagging`, `reorg_too_deep` or `store_unavailable`',
  },
}
