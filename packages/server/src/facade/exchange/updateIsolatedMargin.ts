import type { LivePosition } from '../../trading/positions/livePosition.ts'
import { formatDecimal, type Decimal } from '@bezel/protocol'
import { updatePosition } from '../../orders/updatePosition.ts'
import { collateralAt, type Collateral } from '../../trading/plan/listed.ts'
import type { PositionState } from '../../trading/positions/positionModel.ts'
import { USD_PRICE_ONE } from '../../trading/valuation/scales.ts'
import type { ExchangeAction } from '../signing/envelope.ts'
import { OK_DEFAULT, type ExchangeAnswer } from './exchangeAnswer.ts'
import { ERR } from './errStrings.ts'
import { ExchangeErr } from './exchangeErr.ts'
import type { RunAction } from './exchangeParts.ts'
import { assetAt, booleanAt, integerAt } from './fields.ts'
import { marketView } from './marketView.ts'
import { relayed } from './relayed.ts'
import { settledPosition, unlessFailed } from './settled.ts'

/** Of the amount in the action. */
const USD_ONE = 10n ** 6n

/** Adds margin to the position in a coin, or takes some out. The side it names says nothing: there is one position per coin. */
export function updateIsolatedMargin(action: ExchangeAction): RunAction<ExchangeAnswer> {
  const asset = assetAt(action.asset, 'action.asset')
  const usd = BigInt(integerAt(action.ntli, 'action.ntli'))
  booleanAt(action.isBuy, 'action.isBuy')
  return async (context) => {
    const { orders } = context.parts
    const { positions, trading, coin } = marketView(context, asset)
    const position = onlyOne(positions, coin.name)
    const { trade } = position.state
    const amount = amountOf(usd < 0n ? -usd : usd, collateralAt(trading.chain, trade.collateralIndex))
    if (amount === '0') throw new ExchangeErr('ntli must be an amount other than zero.')
    const change = { collateral: { action: usd < 0n ? 'remove' : 'add', amount } } as const
    const { hash } = await relayed(context, (write) => updatePosition(orders, write, position.record.id, change))
    const isDone = (now: PositionState): boolean => now.trade.collateralAmount !== trade.collateralAmount
    const settled = settledPosition(context, position.record.id, isDone)
    if ((await unlessFailed(context, hash, settled)) === 'failed') throw new ExchangeErr(ERR.failed)
    return OK_DEFAULT
  }
}

/** With several, nobody could tell which of them is meant. */
function onlyOne(positions: readonly LivePosition[], coin: string): LivePosition {
  const [position, ...others] = positions
  if (position === undefined) throw new ExchangeErr(`There is no open position in ${coin}.`)
  if (others.length === 0) return position
  throw new ExchangeErr(
    `The position in ${coin} consists of ${positions.length} trades, each with margin of its own: change it through the native interface.`,
  )
}

/** USD (1e6) as an amount of a token, rounded down to its decimals. A dollar of USDC is one USDC. */
function amountOf(usd: bigint, { symbol, decimals, state }: Collateral): Decimal {
  const price = symbol === 'USDC' ? USD_PRICE_ONE : state.priceUsd
  return formatDecimal((usd * state.precision * USD_PRICE_ONE) / (USD_ONE * price), decimals)
}
