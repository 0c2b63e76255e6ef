import { nextOpeningMs, type MarketGroup } from '@bezel/protocol/wire'
import { formatAge, formatDate } from './format.ts'

/** Returns what a trader wants to know of a closed market: when it opens, where that is known, and what it takes. */
export function closedWords(group: MarketGroup, nowMs: number): string {
  const opensAtMs = nextOpeningMs(group, nowMs)
  const when = opensAtMs === null ? '' : `It opens ${formatDate(opensAtMs)}, ${formatAge(opensAtMs, nowMs)}. `
  return `${when}Limit and stop orders are taken and wait.`
}
