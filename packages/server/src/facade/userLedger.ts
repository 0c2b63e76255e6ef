import { CollateralAmount, type Address, type Decimal, type FillHistoryEntry } from '@bezel/protocol'
import { szOf } from './coins.ts'
import type { FacadeReads } from './facadeReads.ts'
import { pointed } from './priceText.ts'
import { readCoinEntries, type CoinEntry, type HistoryRequest } from './userFills.ts'

// Everything that a trader's account gained and lost is told once: profits and fees of executions by the fills, holding
// fees by the fundings, and the rest by the ledger. So closedPnl - fee + fundings - ledger is the netPnl of the native
// history, to the last unit.

/** Holding fees that an entry of the history realised, in the shape that clients of the facade read. */
export interface FacadeFunding {
  /** Id of the entry; the fill of the same execution has it too. */
  readonly tid: number
  readonly time: number
  readonly hash: string
  readonly delta: {
    readonly type: 'funding'
    readonly coin: string
    /** Amount in units of `token`; negative when the trader paid. */
    readonly usdc: string
    /** Signed net size in the coin that the fees were realised on. */
    readonly szi: string
    /** Always zero: the fees were gathered at many rates. */
    readonly fundingRate: string
    readonly nSamples: null
    readonly token: string
  }
}

/**
 * A cost that belongs to no execution, in the shape that clients of the facade read: a transfer from the trader to the
 * contracts, or the reverse where the contracts bore what was lost beyond the collateral.
 */
export interface FacadeLedgerUpdate {
  /** Id of the entry; the fill of the same execution has it too. */
  readonly tid: number
  readonly time: number
  readonly hash: string
  readonly delta: {
    readonly type: 'internalTransfer'
    /** Amount in units of `token`, never negative. */
    readonly usdc: string
    readonly user: string
    readonly destination: string
    readonly fee: string
    readonly token: string
  }
}

/** Reads the holding fees that a trader's entries realised. */
export function readFundings(reads: FacadeReads, trader: Address, of: HistoryRequest): Promise<FacadeFunding[]> {
  return readCoinEntries(reads, trader, { ...of, isAsked: ({ hasFees }) => hasFees }, (told) => {
    const amounts = amountsOf(reads, told)
    if (amounts === undefined || amounts.holdingFees === 0n) return undefined
    const { id: tid, timestamp: time, txHash: hash } = told.entry.fill
    const { coin, sizeBefore } = told
    const usdc = pointed(amounts.text(CollateralAmount.of(-amounts.holdingFees)))
    const szi = pointed(szOf(coin, sizeBefore))
    const rest = { szi, fundingRate: '0.0', nSamples: null, token: amounts.token }
    return { tid, time, hash, delta: { type: 'funding', coin: coin.name, usdc, ...rest } }
  })
}

/** Reads the costs of a trader that neither fills nor fundings tell. */
export function readLedgerUpdates(
  reads: FacadeReads,
  trader: Address,
  of: HistoryRequest,
): Promise<FacadeLedgerUpdate[]> {
  return readCoinEntries(reads, trader, { ...of, isAsked: ({ hasRest }) => hasRest }, (told) => {
    const amounts = amountsOf(reads, told)
    if (amounts === undefined || amounts.rest === 0n) return undefined
    const { id: tid, timestamp: time, txHash: hash } = told.entry.fill
    const isPaid = amounts.rest < 0n
    const ends = [trader.toLowerCase(), reads.diamond.toLowerCase()] as const
    const [user, destination] = isPaid ? ends : ends.toReversed()
    const usdc = pointed(amounts.text(CollateralAmount.of(isPaid ? -amounts.rest : amounts.rest)))
    const delta = { type: 'internalTransfer', usdc, user: user!, destination: destination!, fee: '0.0' } as const
    return { tid, time, hash, delta: { ...delta, token: amounts.token } }
  })
}

/** Amounts of an entry in units of its collateral. */
interface Amounts {
  readonly token: string
  /** Positive when the trader paid them. */
  readonly holdingFees: bigint
  /** Part of the entry's netPnl that neither its fill nor its holding fees tell. */
  readonly rest: bigint
  text(amount: CollateralAmount): Decimal
}

/** Returns the amounts of an entry; `undefined` for one that was stored without them. */
function amountsOf(reads: FacadeReads, { entry: { fill }, isFill }: CoinEntry): Amounts | undefined {
  const { collateralSymbol, feeCollateral, fundingFee, borrowingFee, netPnl } = fill
  const token = reads.markets().collaterals.find(({ symbol }) => symbol === collateralSymbol)
  if (token === undefined || feeCollateral === null || fundingFee === null) return undefined
  if (borrowingFee === null || netPnl === null) return undefined
  const units = (text: FillHistoryEntry['pnl']): bigint =>
    CollateralAmount.parseTruncated(text as Decimal, token.decimals)
  const holdingFees = units(fundingFee) + units(borrowingFee)
  const ofFill = isFill ? units(fill.pnl) - units(feeCollateral) : 0n
  return {
    token: token.symbol,
    holdingFees,
    rest: units(netPnl) - ofFill + holdingFees,
    text: (amount) => CollateralAmount.format(amount, token.decimals),
  }
}
