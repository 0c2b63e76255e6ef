import { formatDecimal, type Address } from '@bezel/protocol'
import { valuationTimeS } from '../../trading/positions/positionAnswer.ts'
import { szOf } from '../coins.ts'
import type { FacadeReads } from '../facadeReads.ts'
import { netPositions, type NetPosition } from '../netPositions.ts'
import { nearestPx, pointed } from '../priceText.ts'
import { usdText } from '../usd.ts'
import { userOf, type InfoRequest } from './infoRequest.ts'
import type { ReadyAnswer } from './remembered.ts'
import { rememberedState } from './rememberedState.ts'

type Answer = Pick<ReadyAnswer, 'bytes'>

const RATIO_DECIMALS = 10
const RATIO_ONE = 10n ** 10n

/** A trader's wallet and positions. Amounts fit together: what is in the wallet is the account's value less the margin that is used. */
export function clearinghouseState(request: InfoRequest, reads: FacadeReads): Answer | Promise<Answer> {
  const trader = userOf(request)
  const walletUsd = walletOf(trader, reads)
  // What is known is answered at once, as every client polls it.
  if (typeof walletUsd === 'bigint') return answerOf(trader, reads, walletUsd)
  return walletUsd.then((usd) => answerOf(trader, reads, usd))
}

function answerOf(trader: Address, reads: FacadeReads, walletUsd: bigint): Answer {
  const lasts = rememberedState(reads, trader, walletUsd, () => {
    const { time: _now, ...lasting } = stateAt(trader, reads, walletUsd)
    return JSON.stringify(lasting).slice(0, -1)
  })
  return { bytes: Buffer.concat([lasts, Buffer.from(`,"time":${reads.now()}}`)]) }
}

export async function accountState(trader: Address, reads: FacadeReads) {
  return stateAt(trader, reads, await walletOf(trader, reads))
}

function walletOf(trader: Address, reads: FacadeReads): bigint | Promise<bigint> {
  // Before a round trip is spent on what can't be answered; what is shown is as new as the wallet.
  reads.positionsOf(trader)
  return reads.wallet(trader)
}

function stateAt(trader: Address, reads: FacadeReads, walletUsd: bigint) {
  const chain = reads.markets()
  const positions = netPositions(reads.positionsOf(trader), chain, reads.quote, valuationTimeS(chain, reads.head()))
  return stateOf(positions, walletUsd, reads.now())
}

/** Of an exchange within the exchange: nobody has anything there. */
export function noClearinghouseState(_request: InfoRequest, { now }: FacadeReads): unknown {
  return stateOf([], 0n, now())
}

function stateOf(positions: readonly NetPosition[], walletUsd: bigint, time: number) {
  const marginUsd = sum(positions, marginOf)
  const accountUsd = walletUsd + marginUsd
  const summary = {
    accountValue: text(accountUsd),
    totalNtlPos: text(sum(positions, ({ valueUsd }) => valueUsd)),
    totalRawUsd: text(accountUsd - sum(positions, signedValue)),
    totalMarginUsed: text(marginUsd),
  }
  return {
    marginSummary: summary,
    // There is no cross margin, but clients read what an account is worth from here.
    crossMarginSummary: summary,
    crossMaintenanceMarginUsed: '0.0',
    withdrawable: text(walletUsd),
    assetPositions: positions.map((position) => ({ type: 'oneWay', position: positionText(position) })),
    time,
  }
}

/** With what it has won or lost: clients take that off again to get at what was put in. */
function marginOf({ collateralUsd, pnlUsd }: NetPosition): bigint {
  return collateralUsd + pnlUsd
}

function signedValue({ size, valueUsd }: NetPosition): bigint {
  return size < 0n ? -valueUsd : valueUsd
}

function positionText(position: NetPosition) {
  const { coin, collateralUsd, pnlUsd, fundingUsd, liquidationPrice } = position
  const funding = text(fundingUsd)
  return {
    coin: coin.name,
    szi: pointed(szOf(coin, position.size)),
    leverage: {
      type: 'isolated',
      value: position.leverage,
      rawUsd: text(marginOf(position) - signedValue(position)),
    },
    entryPx: nearestPx(coin, position.entryPrice),
    positionValue: text(position.valueUsd),
    unrealizedPnl: text(pnlUsd),
    returnOnEquity: pointed(
      formatDecimal(collateralUsd === 0n ? 0n : (pnlUsd * RATIO_ONE) / collateralUsd, RATIO_DECIMALS),
    ),
    liquidationPx: liquidationPrice === undefined ? null : nearestPx(coin, liquidationPrice),
    marginUsed: text(marginOf(position)),
    maxLeverage: coin.maxLeverage,
    cumFunding: { allTime: funding, sinceOpen: funding, sinceChange: funding },
  }
}

function sum(positions: readonly NetPosition[], of: (position: NetPosition) => bigint): bigint {
  return positions.reduce((total, position) => total + of(position), 0n)
}

function text(usd: bigint): string {
  return pointed(usdText(usd))
}
