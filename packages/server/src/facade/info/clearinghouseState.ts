import { MicroUsd, Ratio, type Address } from '@bezel/protocol'
import { valuationMoment } from '../../trading/positions/positionAnswer.ts'
import { szOf } from '../coins.ts'
import type { FacadeReads } from '../facadeReads.ts'
import { netPositions, type NetPosition } from '../netPositions.ts'
import { nearestPx, pointed } from '../priceText.ts'
import { userRequest, type UserRequest } from './infoRequest.ts'
import { defineInfo, type Written } from './infoType.ts'
import { createLru, type Lru } from '../../ground/lru.ts'

/** A user's wallet and positions as clients of the facade read them. Amounts are USD. */
interface ClearinghouseState {
  readonly marginSummary: MarginSummary
  readonly crossMarginSummary: MarginSummary
  readonly crossMaintenanceMarginUsed: string
  readonly withdrawable: string
  readonly assetPositions: readonly { readonly type: 'oneWay'; readonly position: PositionText }[]
  readonly time: number
}

interface MarginSummary {
  readonly accountValue: string
  readonly totalNtlPos: string
  readonly totalRawUsd: string
  readonly totalMarginUsed: string
}

interface PositionText {
  readonly coin: string
  readonly szi: string
  readonly leverage: { readonly type: 'isolated'; readonly value: number; readonly rawUsd: string }
  readonly entryPx: string
  readonly positionValue: string
  readonly unrealizedPnl: string
  readonly returnOnEquity: string
  readonly liquidationPx: string | null
  readonly marginUsed: string
  readonly maxLeverage: number
  readonly cumFunding: { readonly allTime: string; readonly sinceOpen: string; readonly sinceChange: string }
}

/** A user's wallet and positions. The amounts add up: the wallet is the account's value less the margin used. */
export const clearinghouseState = defineInfo<UserRequest, ClearinghouseState>({
  parse: userRequest,
  answer({ user }, reads, meter) {
    const charged = meter.add(reads.positionsOf(user).length)
    const walletUsd = walletOf(user, reads)
    // A cached wallet is answered synchronously, because every client polls this type.
    if (charged === undefined && typeof walletUsd === 'bigint') return answerOf(user, reads, walletUsd)
    return Promise.all([walletUsd, charged]).then(([usd]) => answerOf(user, reads, usd))
  },
  inOtherDex: noClearinghouseState,
})

function answerOf(trader: Address, reads: FacadeReads, walletUsd: MicroUsd): Written<ClearinghouseState> {
  const lasts = rememberedState(reads, trader, walletUsd, () => {
    const { time: _now, ...lasting } = stateAt(trader, reads, walletUsd)
    return JSON.stringify(lasting).slice(0, -1)
  })
  return { bytes: Buffer.concat([lasts, Buffer.from(`,"time":${reads.now()}}`)]) }
}

export async function readClearinghouseState(trader: Address, reads: FacadeReads): Promise<ClearinghouseState> {
  return stateAt(trader, reads, await walletOf(trader, reads))
}

function walletOf(trader: Address, reads: FacadeReads): MicroUsd | Promise<MicroUsd> {
  // Throws `NOT_READY` before a round trip to the node is spent. The result is read again later, to be as new as the
  // wallet.
  reads.positionsOf(trader)
  return reads.wallet(trader)
}

function stateAt(trader: Address, reads: FacadeReads, walletUsd: MicroUsd): ClearinghouseState {
  const chain = reads.markets()
  const positions = netPositions(
    reads.positionsOf(trader),
    chain,
    reads.lastQuote,
    valuationMoment(chain, reads.head()),
  )
  return stateOf(positions, walletUsd, reads.now())
}

/** Returns the empty account of any user in a builder-deployed dex, of which there are none. */
export function noClearinghouseState({ now }: Pick<FacadeReads, 'now'>): ClearinghouseState {
  return stateOf([], MicroUsd.zero, now())
}

function stateOf(positions: readonly NetPosition[], walletUsd: MicroUsd, time: number): ClearinghouseState {
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
    // There is no cross margin, but clients read the account's value from this field.
    crossMarginSummary: summary,
    crossMaintenanceMarginUsed: '0.0',
    withdrawable: text(walletUsd),
    assetPositions: positions.map((position) => ({ type: 'oneWay', position: positionText(position) })),
    time,
  }
}

/** Returns a position's collateral with its profit or loss, which clients subtract again to get the collateral. */
function marginOf({ collateralUsd, pnlUsd }: NetPosition): bigint {
  return collateralUsd + pnlUsd
}

function signedValue({ size, valueUsd }: NetPosition): bigint {
  return size < 0n ? -valueUsd : valueUsd
}

function positionText(position: NetPosition): PositionText {
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
    returnOnEquity: pointed(Ratio.format(Ratio.of(collateralUsd === 0n ? 0n : (pnlUsd * Ratio.one) / collateralUsd))),
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
  return pointed(MicroUsd.format(MicroUsd.of(usd)))
}

/** The answer made for a trader, with all the inputs it was made from. */
interface KnownState {
  readonly markets: number
  readonly prices: number
  readonly block: number | undefined
  readonly positions: unknown
  readonly walletUsd: MicroUsd
  readonly bytes: Buffer
}

/** Number of cached answers. Bounds memory, since each takes some kilobytes; the oldest are dropped first. */
const MAX_KNOWN = 1_000

const known = new WeakMap<FacadeReads, Lru<Address, KnownState>>()

/**
 * Caches a trader's answer until one of its inputs changes, because clients poll their account many times between two
 * ticks. `make` writes the answer.
 */
export function rememberedState(reads: FacadeReads, trader: Address, walletUsd: MicroUsd, make: () => string): Buffer {
  const states = known.get(reads) ?? createLru<Address, KnownState>(MAX_KNOWN)
  known.set(reads, states)
  const of = {
    markets: reads.marketsVersion(),
    prices: reads.priceVersion(),
    block: reads.head()?.timestampMs,
    // The same list object until one of the positions changes.
    positions: reads.positionsOf(trader),
    walletUsd,
  }
  const before = states.get(trader)
  if (before !== undefined && isSame(before, of)) return before.bytes
  const bytes = Buffer.from(make())
  states.set(trader, { ...of, bytes })
  return bytes
}

function isSame(before: KnownState, now: Omit<KnownState, 'bytes'>): boolean {
  return (
    before.prices === now.prices &&
    before.block === now.block &&
    before.positions === now.positions &&
    before.walletUsd === now.walletUsd &&
    before.markets === now.markets
  )
}
