import type { AgentScope, AuditKind, AuditLogEntry } from '@bezel/sdk'
import { formatAmount, shortAddress } from '../ground/format.ts'

/** Sentences for the kinds of entries, as a trader says them. */
const SENTENCES: Readonly<Record<AuditKind, string>> = {
  agent_added: 'Agent authorised',
  agent_changed: 'Name or limits of the agent changed',
  agent_moved_away: 'Agent went over to another trader',
  agent_revoked: 'Agent revoked',
  agent_replaced: 'Agent replaced by another of its name',
  key_issued: 'API key issued',
  key_replaced: 'API key issued again; the one before is void',
  key_ended: 'API key ended',
  delegation_seen: 'Delegation seen on the chain',
  delegation_lost: 'Delegation ended on the chain',
  relay_refused: 'Action refused by the relayer',
  paused: 'Paused by the operator',
  resumed: 'Resumed by the operator',
  budget_set: 'Gas budget set by the operator',
}

/** Returns what an entry tells, in words. */
export function auditSentence({ kind }: Pick<AuditLogEntry, 'kind'>): string {
  // A service that is newer than this page may have further kinds.
  return SENTENCES[kind] ?? kind.replaceAll('_', ' ')
}

/**
 * Returns the details of an entry in words, `named bot, may trade, all markets`. Limits that are not set say nothing.
 */
export function auditDetail(detail: AuditLogEntry['detail'], dateOf: (ms: number) => string): string {
  if (detail === null) return ''
  const words = Object.entries(detail).flatMap(([name, value]: [string, unknown]): string[] => {
    if (value === null || value === '') return []
    if (isRecord(value)) return [auditDetail(value, dateOf)]
    return [wordsOf(name, value, dateOf)]
  })
  return words.filter((part) => part !== '').join(', ')
}

/** Returns the limits of a scope in words, one for each. */
export function scopeWords(scope: AgentScope, dateOf: (ms: number) => string): readonly string[] {
  return [
    scope.permissions === 'read' ? 'may only read' : 'may trade',
    scope.markets === 'all' ? 'all markets' : `markets ${scope.markets.join(', ')}`,
    scope.maxLeverage === null ? 'any leverage' : `leverage up to ${scope.maxLeverage}×`,
    scope.dailySpendCapUsd === null ? 'no daily cap' : `daily cap ${usd(scope.dailySpendCapUsd)}`,
    scope.expiresAt === null ? 'never expires' : `expires ${dateOf(scope.expiresAt)}`,
  ]
}

function wordsOf(name: string, value: unknown, dateOf: (ms: number) => string): string {
  const text = Array.isArray(value) ? value.join(', ') : String(value)
  switch (name) {
    case 'name':
      return `named ${text}`
    case 'mode':
      return value === 'self' ? 'sends its own transactions' : 'sends through the relayer'
    case 'markets':
      return Array.isArray(value) ? `markets ${text}` : `${text} markets`
    case 'maxLeverage':
      return `leverage up to ${text}×`
    case 'dailySpendCapUsd':
      return `daily cap ${usd(text)}`
    case 'expiresAt':
      return `expires ${dateOf(Number(value))}`
    case 'permissions':
      return value === 'read' ? 'may only read' : 'may trade'
    default:
      return `${name} ${isAddress(text) ? shortAddress(text) : text}`
  }
}

function usd(amount: string): string {
  return formatAmount(amount, { decimals: amount.includes('.') ? 2 : 0, symbol: 'USD' })
}

function isAddress(text: string): boolean {
  return /^0x[0-9a-fA-F]{40}$/.test(text)
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
