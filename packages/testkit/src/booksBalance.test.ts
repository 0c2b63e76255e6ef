import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import type { FillHistoryEntry } from '@bezel/protocol'
import { encodeEventTopics, erc20Abi, parseEventLogs, type Address, type Hex, type Log } from 'viem'
import { problemsOfBooks, type TraderBooks } from './booksBalance.ts'
import { tokenMoves, type WitnessedLog, type WitnessedToken } from './tokenWitness.ts'

/**
 * The answers of the service about one trader, and the logs of the chain of the same moment: an open, a refused open,
 * half of a close and the rest of it in profit ten hours later, another open, and an order that rests.
 */
interface RecordedBooks {
  readonly diamond: Address
  readonly trader: Address
  readonly token: WitnessedToken
  /** Units of the token that the Diamond holds for orders. */
  readonly held: string
  readonly books: TraderBooks
  readonly logs: readonly WitnessedLog[]
}

const RECORDED = JSON.parse(readFileSync(new URL('recordedBooks.json', import.meta.url), 'utf8')) as RecordedBooks
const { diamond, trader, token, books } = RECORDED
/** Transfers between the trader and the Diamond. */
const TRANSFERS = parseEventLogs({ abi: erc20Abi, logs: RECORDED.logs as Log[], eventName: 'Transfer' })
  .filter(({ args: { from, to } }) => [from, to].includes(trader) && [from, to].includes(diamond))
  .map(({ address, data, topics, transactionHash }): WitnessedLog => ({ address, data, topics, transactionHash }))

/** Checks the recorded books, with what a fault changes. */
function problemsWith({
  fills = books.fills,
  logs = RECORDED.logs,
  vault = token.vault,
}: Partial<TraderBooks & { logs: readonly WitnessedLog[]; vault: Address }> = {}): string[] {
  const moves = tokenMoves(logs, { diamond, trader, token: { ...token, vault } })
  return problemsOfBooks({ ...books, fills }, { ...moves, held: BigInt(RECORDED.held) }, token)
}

/** Changes the entries with an action. */
function withChanged(
  action: string,
  change: (entry: FillHistoryEntry) => Partial<FillHistoryEntry>,
): FillHistoryEntry[] {
  return books.fills.map((entry) => (entry.action === action ? { ...entry, ...change(entry) } : entry))
}

/** Adds to a decimal amount, in units of the token. */
function plus(text: string | null, units: bigint): string {
  const scale = 10 ** token.decimals
  return String(Number(BigInt(Math.round(Number(text) * scale)) + units) / scale)
}

const transfer = (from: Address, to: Address, log: WitnessedLog, value: bigint): WitnessedLog => ({
  ...log,
  topics: encodeEventTopics({ abi: erc20Abi, eventName: 'Transfer', args: { from, to } }) as Log['topics'],
  data: `0x${value.toString(16).padStart(64, '0')}` as Hex,
})

/**
 * Rewrites the logs as a Diamond leaves them whose vault pays profits to the trader itself, as the contracts before the
 * present ones did: what the vault sends to the Diamond, and the Diamond then to the trader, goes straight there.
 */
function paidByVault(logs: readonly WitnessedLog[]): WitnessedLog[] {
  const direct = new Map<Hex | null, bigint>()
  return logs.flatMap((log) => {
    const [event] = parseEventLogs({ abi: erc20Abi, logs: [log as Log], eventName: 'Transfer' })
    if (event === undefined) return [log]
    const { from, to, value } = event.args
    if (from === token.vault && to === diamond) {
      direct.set(log.transactionHash, value)
      return [transfer(token.vault, trader, log, value)]
    }
    const given = direct.get(log.transactionHash)
    return from === diamond && to === trader && given !== undefined && given <= value
      ? [transfer(diamond, trader, log, value - given)]
      : [log]
  })
}

describe('the check of books, on recorded ones', () => {
  it('finds nothing in them', () => {
    assert.deepEqual(problemsWith(), [])
    assert.ok(books.fills.some(({ action }) => action === 'TradeOpenRefused'))
    assert.ok(BigInt(RECORDED.held) > 0n && books.positions.length > 0)
  })

  it('finds an opening fee that is counted twice', () => {
    const twice = withChanged('TradeOpenedMarket', ({ feeCollateral, netPnl }) => ({
      feeCollateral: String(2 * Number(feeCollateral)),
      netPnl: plus(netPnl, BigInt(Math.round(Number(feeCollateral) * -1e6))),
    }))
    assert.match(problemsWith({ fills: twice }).join('\n'), /^taken .* - netPnl .*: off by -/)
  })

  it('finds a refused open that is left out', () => {
    const fills = books.fills.filter(({ action }) => action !== 'TradeOpenRefused')
    assert.match(problemsWith({ fills }).join('\n'), /: off by 0\.0\d+ USDC/)
  })

  it("finds the vault's transfers left out", () => {
    const logs = paidByVault(RECORDED.logs)
    assert.notDeepEqual(logs, RECORDED.logs)
    assert.deepEqual(problemsWith({ logs }), [])
    assert.match(problemsWith({ logs, vault: diamond }).join('\n'), /^taken .*: off by \d/)
  })

  it('finds one unit, and one transfer', () => {
    for (const field of ['netPnl', 'payout', 'deposit', 'forfeited', 'fundingFee', 'pnl'] as const) {
      for (const unit of [1n, -1n]) {
        const fills = withChanged('TradeClosedMarket', (entry) => ({ [field]: plus(entry[field], unit) }))
        assert.notDeepEqual(problemsWith({ fills }), [], `${field} ${unit}`)
      }
    }
    for (const { transactionHash, data } of TRANSFERS) {
      const logs = RECORDED.logs.filter((log) => log.transactionHash !== transactionHash || log.data !== data)
      assert.notDeepEqual(problemsWith({ logs }), [], transactionHash!)
    }
  })

  it('finds an error that hides in what was forfeited', () => {
    const fills = withChanged('TradeClosedMarket', ({ pnl }) => ({ pnl: plus(pnl, 5n), forfeited: '0.000005' }))
    assert.match(problemsWith({ fills }).join('\n'), /forfeited 5 with a payout of/)
  })

  it('finds an error that hides in a price profit where nothing was closed', () => {
    const fills = withChanged('TradeOpenedMarket', ({ feeCollateral }) => ({
      feeCollateral: plus(feeCollateral, 1n),
      pnl: '0.000001',
    }))
    assert.match(problemsWith({ fills }).join('\n'), /\(TradeOpenedMarket\): a pnl of 1, and nothing was closed/)
  })

  it('finds a refusal that seems to have traded something, and an execution of nothing', () => {
    const refused = withChanged('TradeOpenRefused', () => ({ size: '0.1' }))
    assert.match(problemsWith({ fills: refused }).join('\n'), /\(TradeOpenRefused\): a size of 0\.1/)
    const executed = withChanged('TradeClosedMarket', () => ({ size: '0' }))
    assert.match(problemsWith({ fills: executed }).join('\n'), /\(TradeClosedMarket\): a size of 0/)
  })

  it('finds entries without amounts', () => {
    const fills = withChanged('TradeClosedMarket', () => ({ netPnl: null }))
    assert.match(problemsWith({ fills }).join('\n'), /has no amounts/)
  })

  it('takes transfers without an event of trading for something else', () => {
    const transactionHash: Hex = `0x${'77'.repeat(32)}`
    const claim = { ...transfer(diamond, trader, TRANSFERS[0]!, 7_000_000n), transactionHash }
    assert.deepEqual(problemsWith({ logs: [...RECORDED.logs, claim] }), [])
  })
})
