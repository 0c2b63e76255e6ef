import type { NonceClaim } from './nonceClaim.ts'

/** What a text of nonce lines says. */
export interface NonceRecords {
  readonly claims: readonly NonceClaim[]
  /** -Infinity when it does not say. */
  readonly forgottenUpToMs: number
}

const CLAIM_LINE = /^(\d{1,16}) ([a-z0-9-]+ 0x[0-9a-fA-F]{40} (?:0|[1-9]\d{0,77}))$/
const FORGOTTEN_LINE = /^forgotten (\d{1,16})$/

export function claimLine({ key, timestampMs }: NonceClaim): string {
  return `${timestampMs} ${key}\n`
}

/** Says which claims are remembered nowhere any more; nothing when none was ever forgotten. */
export function forgottenLine(forgottenUpToMs: number): string {
  return forgottenUpToMs === -Infinity ? '' : `forgotten ${forgottenUpToMs}\n`
}

/**
 * Reads every whole line it understands. What follows the last line feed is a line that a killed process did not finish: its request
 * was never accepted. Other damage (a disk that lost power) costs no more than its own lines.
 */
export function parseNonceLines(text: string): NonceRecords {
  const claims: NonceClaim[] = []
  let forgottenUpToMs = -Infinity
  for (const line of text.split('\n').slice(0, -1)) {
    const [, timestamp, key] = CLAIM_LINE.exec(line) ?? []
    if (key !== undefined) claims.push({ key, timestampMs: Number(timestamp) })
    const [, forgotten] = FORGOTTEN_LINE.exec(line) ?? []
    if (forgotten !== undefined) forgottenUpToMs = Math.max(forgottenUpToMs, Number(forgotten))
  }
  return { claims, forgottenUpToMs }
}
