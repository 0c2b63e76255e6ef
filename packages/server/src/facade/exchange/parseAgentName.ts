import { MAX_AGENT_NAME_CHARS } from '@bezel/protocol'
import { ExchangeErr } from './exchangeErr.ts'

/** What the name of an agent says. */
export interface ParsedAgentName {
  readonly name: string
  /** Epoch ms; null = never. */
  readonly expiresAt: number | null
}

const VALID_UNTIL = /^(.*?)(?:^| )valid_until (\d+)$/s

/** An expiry is written behind the name: `bot valid_until 1767225600000`. */
export function parseAgentName(text: string): ParsedAgentName {
  const match = VALID_UNTIL.exec(text)
  const [, name = text, digits] = match ?? []
  if (name.length > MAX_AGENT_NAME_CHARS) {
    throw new ExchangeErr(`agentName may have at most ${MAX_AGENT_NAME_CHARS} characters before valid_until.`)
  }
  return { name, expiresAt: digits === undefined ? null : expiryOf(digits) }
}

/** 0 would be no expiry elsewhere, and mean the opposite of what was written. */
function expiryOf(digits: string): number {
  const expiresAt = Number(digits)
  if (Number.isSafeInteger(expiresAt) && expiresAt > 0) return expiresAt
  throw new ExchangeErr('valid_until must be a time in milliseconds.')
}
