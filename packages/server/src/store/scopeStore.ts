import type { AgentScope } from '@bezel/protocol'
import type { Sql } from './sql.ts'

// Anybody can register a scope, so it must not take much room: it is stored as a list without the names of its fields,
// and its markets are text, two characters for each. The numbers behind the characters are rows that are never changed,
// at most as many as markets were ever listed.

/** The markets of a stored scope: `all`, the characters of each market behind a `#`, or their symbols. */
type StoredMarkets = string | string[]

type StoredScope = readonly [
  markets: StoredMarkets,
  maxLeverage: string | null,
  dailySpendCapUsd: string | null,
  expiresAt: number | null,
  permissions: AgentScope['permissions'],
]

/** The numbers of markets, by symbol. */
type MarketNumbers = ReadonlyMap<string, number>

const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

/** More markets than that have no number, and are stored by their symbols. */
const MAX_NUMBERED = DIGITS.length ** 2

const CODED = '#'

/** Returns the text of a scope. Gives new markets a number, in the caller's transaction. */
export async function encodeScope(sql: Sql, scope: AgentScope): Promise<string> {
  const { markets, maxLeverage, dailySpendCapUsd, expiresAt, permissions } = scope
  const coded = markets === 'all' ? markets : await encodeMarkets(sql, markets)
  const stored: StoredScope = [coded, maxLeverage, dailySpendCapUsd, expiresAt, permissions]
  return JSON.stringify(stored)
}

/** Returns a function that reads the scopes of these texts. */
export async function scopeDecoder(sql: Sql, texts: readonly string[]): Promise<(text: string) => AgentScope> {
  const isCoded = texts.some((text) => text.startsWith(`["${CODED}`))
  const numbers = isCoded ? await loadNumbers(sql) : new Map<string, number>()
  const symbols = new Map(Array.from(numbers, ([symbol, number]) => [toCode(number), symbol]))
  return (text) => {
    const stored = JSON.parse(text) as StoredScope | AgentScope
    // Scopes of before were stored as they are.
    if (!isStoredScope(stored)) return stored
    const [markets, maxLeverage, dailySpendCapUsd, expiresAt, permissions] = stored
    return { markets: decodeMarkets(markets, symbols), maxLeverage, dailySpendCapUsd, expiresAt, permissions }
  }
}

function isStoredScope(stored: StoredScope | AgentScope): stored is StoredScope {
  return Array.isArray(stored)
}

async function encodeMarkets(sql: Sql, markets: string[]): Promise<StoredMarkets> {
  const numbers = await numbersOf(sql, markets)
  return numbers === undefined ? markets : CODED + numbers.map(toCode).join('')
}

function decodeMarkets(markets: StoredMarkets, symbols: ReadonlyMap<string, string>): AgentScope['markets'] {
  if (typeof markets !== 'string') return markets
  if (!markets.startsWith(CODED)) return 'all'
  const codes = markets.slice(CODED.length).match(/../g) ?? []
  return codes.map((code) => {
    const symbol = symbols.get(code)
    if (symbol === undefined) throw new Error(`a stored scope names market ${code}, which has no symbol`)
    return symbol
  })
}

/**
 * Returns the numbers of markets, after adding those that have none; `undefined` when there are too many. A number that
 * another transaction gives out at the same time is not taken: this one waits for it, and reads them again.
 */
async function numbersOf(sql: Sql, markets: readonly string[]): Promise<number[] | undefined> {
  for (;;) {
    const numbers = await loadNumbers(sql)
    const added = [...new Set(markets)].filter((market) => !numbers.has(market))
    if (added.length === 0) return markets.map((market) => numbers.get(market)!)
    if (numbers.size + added.length > MAX_NUMBERED) return undefined
    // One order for all, so that no two wait for each other.
    for (const [at, symbol] of added.toSorted().entries()) {
      await sql.run(
        'insert into scope_markets (id, symbol) values ($1, $2) on conflict do nothing',
        numbers.size + at,
        symbol,
      )
    }
  }
}

async function loadNumbers(sql: Sql): Promise<MarketNumbers> {
  const rows = await sql.all<{ id: bigint; symbol: string }>('select id, symbol from scope_markets')
  return new Map(rows.map(({ id, symbol }) => [symbol, Number(id)]))
}

function toCode(number: number): string {
  return DIGITS[Math.floor(number / DIGITS.length)]! + DIGITS[number % DIGITS.length]!
}
