import assert from 'node:assert/strict'
import { CollateralAmount, type Address, type Decimal, type FillHistoryEntry } from '@bezel/protocol'
import type { ChainClient } from '@bezel/testkit/chainClient.ts'
import { readHeldByOrders, readWitnessedLogs, readWitnessedTokens, tokenMoves } from '@bezel/testkit/tokenWitness.ts'
import { listFills } from '../../store/fillStore.ts'
import type { Store } from '../../store/sql.ts'
import { fromExactJson } from '../../store/sql.ts'
import { bookValue } from '../../trading/positions/books.ts'
import type { PositionState } from '../../trading/positions/positionModel.ts'

const CHAIN = 'arbitrum-sepolia'
const MAX_FILLS = 10_000

/** Actions that end a position. Only they may forfeit something, and only without a payout. */
const ENDS: ReadonlySet<string> = new Set(['TradeClosedMarket', 'TradeClosedTP', 'TradeClosedSL', 'TradeClosedLIQ'])

/**
 * Fails unless the books of a trader in USDC balance to the last unit against the token's own transfers. No block may
 * be mined meanwhile.
 */
export async function expectBalancedBooks(store: Store, chain: ChainClient, trader: string): Promise<void> {
  const owner = trader as Address
  const [usdc] = await readWitnessedTokens(chain, ['USDC'])
  const logs = await readWitnessedLogs(chain, [usdc!])
  const { taken, paid } = tokenMoves(logs, { diamond: chain.diamond, trader: owner, token: usdc! })
  const held = await readHeldByOrders(chain, owner, 'USDC')
  const positions = await store.read.all<{ state: string }>(
    'select state from positions where chain = $1 and trader = $2 and state is not null',
    CHAIN,
    owner,
  )
  const states = positions.map(({ state }) => fromExactJson<PositionState>(state))
  const invested = sum(states.map(bookValue))
  const waiting = sum(states.map(({ pendingUpdate }) => positive(pendingUpdate?.collateralDelta ?? 0n)))
  const placed = await listFills(store.read, { chain: CHAIN, trader: owner, cursor: undefined, limit: MAX_FILLS })
  const fills = placed.map(({ fill }) => fill)
  for (const fill of fills) expectExplained(fill, usdc!.decimals)
  const units = (field: 'netPnl' | 'deposit' | 'payout'): bigint =>
    sum(fills.map((fill) => CollateralAmount.parse(fill[field] as Decimal, usdc!.decimals)!))
  assert.equal(held + waiting + invested - units('netPnl'), taken - paid, `the books of ${trader}`)
  assert.equal(held + waiting + units('deposit') - units('payout'), taken - paid, `deposits and payouts of ${trader}`)
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
