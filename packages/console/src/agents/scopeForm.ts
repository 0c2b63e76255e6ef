import { parseAddress, parseDecimal } from '@bezel/protocol/wire'
import type { AgentScope } from '@bezel/sdk'

/** The scope of an agent as it is typed. Empty texts set no limit. */
export interface ScopeForm {
  /** Symbols with commas, or nothing for all markets. */
  readonly markets: string
  readonly maxLeverage: string
  readonly dailyCapUsd: string
  readonly expiry: ExpiryChoice
  /** Local date and time of the field for dates, `2027-01-31T12:00`; counts when `expiry` is `date`. */
  readonly expiryDate: string
  readonly permissions: AgentScope['permissions']
}

/** A moment at which an agent ends: a span from now, a date, or never. */
export type ExpiryChoice = keyof typeof EXPIRY_SPANS_MS | 'date' | 'never'

const HOUR_MS = 3_600_000

const DAY_MS = 24 * HOUR_MS

const EXPIRY_SPANS_MS = {
  '1h': HOUR_MS,
  '8h': 8 * HOUR_MS,
  '1d': DAY_MS,
  '7d': 7 * DAY_MS,
  '30d': 30 * DAY_MS,
  '90d': 90 * DAY_MS,
} as const

/** The choices of an expiry, with their words. */
export const EXPIRY_CHOICES: readonly { readonly value: ExpiryChoice; readonly label: string }[] = [
  { value: '1h', label: 'in one hour' },
  { value: '8h', label: 'in eight hours' },
  { value: '1d', label: 'in one day' },
  { value: '7d', label: 'in seven days' },
  { value: '30d', label: 'in 30 days' },
  { value: '90d', label: 'in 90 days' },
  { value: 'date', label: 'at a date' },
  { value: 'never', label: 'never' },
]

/**
 * Form of a new agent: every market, moderate leverage, a cap and an end, because limits are easier widened than
 * missed.
 */
export const NEW_SCOPE: ScopeForm = {
  markets: '',
  maxLeverage: '20',
  dailyCapUsd: '100000',
  expiry: '30d',
  expiryDate: '',
  permissions: 'trade',
}

/** The greatest number of markets that the service takes in a scope. */
const MAX_MARKETS = 64

/** The longest name of an agent that the service takes. */
const MAX_NAME_CHARS = 32

/** The outcome of reading a form: the scope, or a sentence for each field that is wrong. */
export interface ReadScope {
  /** Null when a field is wrong. */
  readonly scope: AgentScope | null
  readonly problems: Readonly<Partial<Record<keyof ScopeForm, string>>>
}

/** Reads the form of a scope. `symbols` are the listed markets, null while they are not known. */
export function readScope(
  form: ScopeForm,
  { symbols, nowMs }: { readonly symbols: readonly string[] | null; readonly nowMs: number },
): ReadScope {
  const markets = readMarkets(form.markets, symbols)
  const maxLeverage = readLimit(form.maxLeverage, 'a leverage above 0, such as 20')
  const dailyCapUsd = readLimit(form.dailyCapUsd, 'an amount in USD above 0, such as 50000')
  const expiry = readExpiry(form, nowMs)
  const problems = Object.fromEntries(
    Object.entries({ markets, maxLeverage, dailyCapUsd, expiry }).flatMap(([field, { problem }]) =>
      problem === null ? [] : [[field, problem]],
    ),
  )
  if (Object.keys(problems).length > 0) return { scope: null, problems }
  const scope: AgentScope = {
    markets: markets.value,
    maxLeverage: maxLeverage.value,
    dailySpendCapUsd: dailyCapUsd.value,
    expiresAt: expiry.value,
    permissions: form.permissions,
  }
  return { scope, problems }
}

/** Returns the form that an agent's present scope would be typed as, to change it. */
export function formOfScope(scope: AgentScope): ScopeForm {
  return {
    markets: scope.markets === 'all' ? '' : scope.markets.join(', '),
    maxLeverage: scope.maxLeverage ?? '',
    dailyCapUsd: scope.dailySpendCapUsd ?? '',
    expiry: scope.expiresAt === null ? 'never' : 'date',
    expiryDate: scope.expiresAt === null ? '' : localDateTime(scope.expiresAt),
    permissions: scope.permissions,
  }
}

/** Returns what a trader should know before signing a wide scope; null when every limit is set. */
export function scopeWarning(scope: AgentScope): string | null {
  if (scope.permissions === 'read') return null
  const open = [
    scope.maxLeverage === null ? 'no limit of leverage' : null,
    scope.dailySpendCapUsd === null ? 'no daily cap' : null,
    scope.expiresAt === null ? 'no end' : null,
  ].filter((part) => part !== null)
  return open.length === 0 ? null : `This agent has ${joinWords(open)}. It can trade, and it can never withdraw.`
}

/** Returns what is wrong with the name of an agent; null when it can be used. */
export function nameProblem(name: string): string | null {
  const over = name.length - MAX_NAME_CHARS
  return over > 0 ? `The name is ${over} characters too long; ${MAX_NAME_CHARS} are allowed.` : null
}

/** Reads the pasted address of an agent. Returns its checksummed form, or what is wrong. */
export function readAgentAddress(
  text: string,
  trader: string,
): { readonly address: `0x${string}` } | { readonly problem: string } {
  const address = parseAddress(text.trim())
  if (address === undefined) return { problem: 'An address is 0x and 40 hexadecimal digits. Copy it again.' }
  if (/^0x0{40}$/.test(address)) return { problem: 'This is the zero address, which nobody has the key of.' }
  if (address.toLowerCase() === trader.toLowerCase()) {
    return { problem: 'This is your own wallet. It needs no agent: it can trade as it is.' }
  }
  return { address }
}

interface Read<Value> {
  readonly value: Value
  readonly problem: string | null
}

function readMarkets(text: string, symbols: readonly string[] | null): Read<AgentScope['markets']> {
  const typed = text
    .split(/[,;\s]+/)
    .map((part) => part.toUpperCase().replace('-', '/'))
    .filter((part) => part !== '')
  if (typed.length === 0 || (typed.length === 1 && typed[0] === 'ALL')) return { value: 'all', problem: null }
  const chosen = [...new Set(typed.map((part) => (part.includes('/') ? part : `${part}/USD`)))]
  if (chosen.length > MAX_MARKETS) {
    return { value: 'all', problem: `At most ${MAX_MARKETS} markets can be named. Leave it empty for all of them.` }
  }
  const unknown = symbols === null ? undefined : chosen.find((symbol) => !symbols.includes(symbol))
  return unknown === undefined
    ? { value: chosen, problem: null }
    : { value: 'all', problem: `There is no market ${unknown} on this chain.${guessOf(unknown, symbols ?? [])}` }
}

/** Returns a guess at what was meant: the first market that begins like the unknown one. */
function guessOf(unknown: string, symbols: readonly string[]): string {
  const found = [3, 2].flatMap((letters) => symbols.filter((symbol) => symbol.startsWith(unknown.slice(0, letters))))
  return found[0] === undefined ? ' The list of markets has them all.' : ` Did you mean ${found[0]}?`
}

function readLimit(text: string, what: string): Read<string | null> {
  if (text.trim() === '') return { value: null, problem: null }
  const value = parseDecimal(text.trim())
  if (value !== undefined && value !== '0' && !value.startsWith('-')) return { value, problem: null }
  return { value: null, problem: `Type ${what}, or nothing for no limit.` }
}

function readExpiry({ expiry, expiryDate }: ScopeForm, nowMs: number): Read<number | null> {
  if (expiry === 'never') return { value: null, problem: null }
  if (expiry !== 'date') return { value: nowMs + EXPIRY_SPANS_MS[expiry], problem: null }
  const atMs = Date.parse(expiryDate)
  if (Number.isNaN(atMs)) return { value: null, problem: 'Choose the date at which it ends.' }
  return atMs > nowMs
    ? { value: atMs, problem: null }
    : { value: null, problem: 'This date is past. Choose a later one.' }
}

/** Returns a time as the field for dates has it: local, to the minute. */
function localDateTime(ms: number): string {
  const date = new Date(ms)
  const pad = (part: number): string => String(part).padStart(2, '0')
  const day = `${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())}`
  return `${day}T${pad(date.getHours())}:${pad(date.getMinutes())}`
}

function joinWords(parts: readonly string[]): string {
  return parts.length < 2 ? parts.join('') : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`
}
