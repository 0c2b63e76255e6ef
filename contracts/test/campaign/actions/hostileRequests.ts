import { zeroAddress, type Address, type Hex } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { AGENTS } from '../../../../packages/devnet/src/deploy/accounts.ts'
import type { Campaign } from '../campaign.ts'
import { encodeWrite, type Trade, type WriteArgs } from '../codec.ts'
import { marketOf } from '../market.ts'
import { draftTrade, fromUsd } from './openIntents.ts'
import { pickTrade } from './positionIntents.ts'

/** A transaction that must fail. Default: sent by the trader to the Diamond. */
export type Attempt = { data: Hex; account?: PrivateKeyAccount; to?: Address }

/**
 * An attempt that must fail with `error` and change nothing. `make` returns undefined when there is nothing to try it
 * on.
 */
export type Hostility = { error: string; make(c: Campaign, trader: Address): Attempt | undefined }

type NewTrade = WriteArgs<'openTrade'>[0]

const NOBODY = 4_000_000
const USD = 10n ** 18n
/** A market without depth and skew, so that an attempt fails for its own reason only. */
const EUR_USD = marketOf(21)

/** Returns a valid open of 100 USD. */
export function decentOpen(c: Campaign, trader: Address): NewTrade {
  const draft = draftTrade(c, trader, EUR_USD, c.random.int(0, 2))
  return { ...draft, collateralAmount: fromUsd(c, draft.collateralIndex, 100n * USD) }
}

function badOpen(
  error: string,
  change: (trade: NewTrade, c: Campaign) => Partial<NewTrade>,
  slippage = 1_000,
): Hostility {
  return {
    error,
    make(c, trader) {
      const decent = decentOpen(c, trader)
      return { data: encodeWrite('openTrade', [{ ...decent, ...change(decent, c) }, slippage, zeroAddress]) }
    },
  }
}

export const BAD_OPENS: readonly Hostility[] = [
  badOpen('InsufficientCollateral', () => ({ collateralAmount: 1n })),
  badOpen('WrongLeverage', () => ({ leverage: EUR_USD.maxLeverage + 1 })),
  badOpen('WrongLeverage', () => ({ leverage: EUR_USD.minLeverage - 1 })),
  badOpen('TradePairNotListed', () => ({ pairIndex: 60_000 })),
  badOpen('InvalidCollateralIndex', () => ({ collateralIndex: 9 })),
  badOpen('TradeOpenPriceZero', () => ({ openPrice: 0n, tp: 0n, sl: 0n })),
  badOpen('TradeTpInvalid', ({ openPrice }) => ({ tp: openPrice })),
  badOpen('TradeSlInvalid', ({ openPrice }) => ({ sl: openPrice })),
  badOpen('MaxSlippageZero', () => ({}), 0),
  badOpen('WrongTradeType', () => ({ tradeType: 3 })),
  badOpen('WrongTradeType', () => ({ isCounterTrade: true })),
  badOpen('PriceImpactTooHigh', ({ collateralIndex }, c) => ({
    pairIndex: 2,
    leverage: 150_000,
    collateralAmount: fromUsd(c, collateralIndex, 100_000n * USD),
  })),
  badOpen('ERC20InsufficientBalance', () => ({ collateralAmount: 10n ** 34n })),
  {
    error: 'ERC20InsufficientAllowance',
    make: (c, trader) => ({
      account: AGENTS[0]!.account,
      data: encodeWrite('openTrade', [decentOpen(c, trader), 1_000, zeroAddress]),
    }),
  },
]

function onTrade(isWanted: (t: Trade) => boolean, make: (t: Trade) => Hex): Hostility['make'] {
  return (c, trader) => {
    const t = pickTrade(c, trader, isWanted)
    const isBusy = c.snapshot.orders.some(({ trade }) => trade.user === t?.user && trade.index === t.index)
    return t === undefined || isBusy ? undefined : { data: make(t) }
  }
}

const onPosition = (make: (t: Trade) => Hex): Hostility['make'] => onTrade(({ tradeType }) => tradeType === 0, make)
const onResting = (make: (t: Trade) => Hex): Hostility['make'] => onTrade(({ tradeType }) => tradeType !== 0, make)

export const BAD_CHANGES: readonly Hostility[] = [
  { error: 'DoesntExist', make: () => ({ data: encodeWrite('closeTradeMarket', [NOBODY, 1n]) }) },
  { error: 'DoesntExist', make: () => ({ data: encodeWrite('cancelOpenOrder', [NOBODY]) }) },
  { error: 'NoOrder', make: () => ({ data: encodeWrite('cancelOrderAfterTimeout', [NOBODY]) }) },
  { error: 'ZeroValue', make: onPosition(({ index }) => encodeWrite('closeTradeMarket', [index, 0n])) },
  { error: 'ZeroValue', make: onPosition(({ index }) => encodeWrite('decreasePositionSize', [index, 1n, 0, 0n])) },
  {
    error: 'WrongLeverage',
    make: onPosition(({ index, leverage }) => encodeWrite('updateLeverage', [index, leverage])),
  },
  { error: 'WrongLeverage', make: onPosition(({ index }) => encodeWrite('updateLeverage', [index, 99])) },
  {
    error: 'WrongLeverage',
    make: onPosition(({ index, leverage }) => encodeWrite('decreasePositionSize', [index, 0n, leverage, 1n])),
  },
  {
    error: 'InvalidIncreasePositionSizeInput',
    make: onPosition(({ index }) => encodeWrite('increasePositionSize', [index, 1n, 0, 1n, 1])),
  },
  {
    error: 'InvalidDecreasePositionSizeInput',
    make: onPosition(({ index }) => encodeWrite('decreasePositionSize', [index, 1n, 1, 1n])),
  },
  {
    error: 'InsufficientCollateral',
    make: onPosition(({ index, collateralAmount }) =>
      encodeWrite('decreasePositionSize', [index, collateralAmount, 0, 1n]),
    ),
  },
  {
    error: 'ERC20InsufficientBalance',
    make: onPosition(({ index }) => encodeWrite('increasePositionSize', [index, 10n ** 34n, 1_000, 1n, 1])),
  },
  { error: 'MaxSlippageZero', make: onPosition(({ index }) => encodeWrite('updateMaxClosingSlippageP', [index, 0])) },
  { error: 'WrongTradeType', make: onPosition(({ index }) => encodeWrite('cancelOpenOrder', [index])) },
  { error: 'WrongTradeType', make: onResting(({ index }) => encodeWrite('updateTp', [index, 1n])) },
  { error: 'WrongTradeType', make: onResting(({ index }) => encodeWrite('closeTradeMarket', [index, 1n])) },
]
