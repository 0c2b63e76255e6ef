import assert from 'node:assert/strict'
import { CollateralAmount, type Address, type Decimal, type FillHistoryEntry } from '@bezel/protocol'
import {
  readHeldByOrders,
  readWitnessedLogs,
  readWitnessedTokens,
  tokenMoves,
  type WitnessedChain,
  type WitnessedLog,
} from '@bezel/testkit/tokenWitness.ts'
import { listFills } from '../../store/fillStore.ts'
import type { Store } from '../../store/sql.ts'
import { fromExactJson } from '../../store/sql.ts'
import { bookValue } from '../../trading/positions/books.ts'
import { foldPosition } from '../../trading/positions/foldPosition.ts'
import type { PositionEvent, PositionState } from '../../trading/positions/positionModel.ts'

const CHAIN = 'arbitrum-sepolia'
const MAX_FILLS = 10_000

/** Actions that end a position. Only they may forfeit something, and only without a payout. */
const ENDS: ReadonlySet<string> = new Set(['TradeClosedMarket', 'TradeClosedTP', 'TradeClosedSL', 'TradeClosedLIQ'])

export interface BooksOptions {
  /** Collateral of the books. Default USDC. */
  readonly symbol?: string
  /** Block of the snapshot from which on the books are kept. Left out: the whole history is known. */
  readonly since?: number | undefined
  /** Witnessed logs of these books, for a caller that has read them. */
  readonly logs?: readonly WitnessedLog[]
}

/**
 * Fails unless the books of a trader in one collateral balance to the last unit against the token's own transfers. No
 * block may be mined meanwhile.
 */
export async function expectBalancedBooks(
  store: Store,
  chain: WitnessedChain,
  trader: string,
  { symbol = 'USDC', since, logs }: BooksOptions = {},
): Promise<void> {
  const owner = trader as Address
  const [token] = await readWitnessedTokens(chain, [symbol])
  const { index, decimals } = chain.collateral(symbol)
  const moved = logs ?? (await readWitnessedLogs(chain, [token!]))
  const { taken, paid } = tokenMoves(moved, { diamond: chain.diamond, trader: owner, token: token! })
  const held = await readHeldByOrders(chain, owner, symbol)
  const positions = await store.read.all<{ state: string }>(
    'select state from positions where chain = $1 and trader = $2 and state is not null',
    CHAIN,
    owner,
  )
  const states = positions
    .map(({ state }) => fromExactJson<PositionState>(state))
    .filter(({ trade }) => trade.collateralIndex === index)
  const invested = sum(states.map(bookValue))
  const waiting = sum(states.map(({ pendingUpdate }) => positive(pendingUpdate?.collateralDelta ?? 0n)))
  const found = since === undefined ? NOTHING_FOUND : await readFound(store, chain, owner, symbol, since)
  const placed = await listFills(store.read, { chain: CHAIN, trader: owner, cursor: undefined, limit: MAX_FILLS })
  const fills = placed.map(({ fill }) => fill).filter(({ collateralSymbol }) => collateralSymbol === symbol)
  for (const fill of fills) expectExplained(fill, decimals)
  const units = (field: 'netPnl' | 'deposit' | 'payout'): bigint =>
    sum(fills.map((fill) => CollateralAmount.parse(fill[field] as Decimal, decimals)!))
  const ours = `${symbol} of ${trader}`
  const given = taken - paid + found.waiting
  assert.equal(held + waiting + invested - units('netPnl'), given + found.invested, `the books in ${ours}`)
  assert.equal(held + waiting + units('deposit') - units('payout'), given, `deposits and payouts in ${ours}`)
}

/** Tokens of a trader that the Diamond held already when a snapshot was taken. */
interface Found {
  /** Collateral and realised of the positions. */
  readonly invested: bigint
  /** Collateral of resting orders, of requests and of changes of positions. */
  readonly waiting: bigint
}

const NOTHING_FOUND: Found = { invested: 0n, waiting: 0n }

async function readFound(
  store: Store,
  chain: WitnessedChain,
  trader: Address,
  symbol: string,
  block: number,
): Promise<Found> {
  const rows = await store.read.all<{ position_id: bigint; body: string }>(
    `select position_id, body from position_events join positions on positions.id = position_events.position_id
     where position_events.chain = $1 and trader = $2 and block_number = $3`,
    CHAIN,
    trader,
    block,
  )
  const states = [...Map.groupBy(rows, ({ position_id }) => position_id).values()]
    .map((events) => foldPosition(events.map(({ body }) => fromExactJson<PositionEvent>(body)))!)
    .filter(({ trade }) => trade.collateralIndex === chain.collateral(symbol).index)
  const changes = sum(states.map(({ pendingUpdate }) => positive(pendingUpdate?.collateralDelta ?? 0n)))
  return {
    invested: sum(states.map(bookValue)),
    waiting: changes + (await readHeldByOrders(chain, trader, symbol, BigInt(block))),
  }
}

function expectExplained(fill: FillHistoryEntry, decimals: number): void {
  const amount = (text: string | null): bigint => CollateralAmount.parse(text as Decimal, decimals)!
  const fees = amount(fill.feeCollateral) + amount(fill.fundingFee) + amount(fill.borrowingFee)
  assert.equal(amount(fill.pnl) - fees - amount(fill.forfeited), amount(fill.netPnl), JSON.stringify(fill))
  const isForfeiting = ENDS.has(fill.action) && fill.payout === '0'
  if (!isForfeiting) assert.equal(fill.forfeited, '0', JSON.stringify(fill))
}

function sum(amounts: readonly bigint[]): bigint {
  return amounts.reduce((total, amount) => total + amount, 0n)
}

function positive(amount: bigint): bigint {
  return amount > 0n ? amount : 0n
}
