import type { SeededRandom } from './seededRandom.ts'

/** The body of a request. */
export type Body = Readonly<Record<string, unknown>>

export function randomSize(random: SeededRandom): string {
  return random.pick(['0.01', '0.015', '0.02', '0.03'])
}

/** On either side of where the price goes. */
export function randomPrice(random: SeededRandom): string {
  return String(58_000 + random.below(36) * 100)
}

export function marketOrder(random: SeededRandom): Body {
  const side = random.pick(['long', 'short'] as const)
  const stops = side === 'long' ? { tp: '61200', sl: '57500' } : { tp: '58200', sl: '62000' }
  return { ...sharedTerms(random), side, type: 'market', slippage: '3', ...(random.chance(0.3) ? stops : {}) }
}

export function restingOrder(random: SeededRandom): Body {
  const side = random.pick(['long', 'short'])
  return { ...sharedTerms(random), side, type: random.pick(['limit', 'stop']), price: randomPrice(random) }
}

/** Closes several positions with one order, where there are. */
export function reducingOrder(random: SeededRandom): Body {
  const side = random.pick(['long', 'short'])
  return { ...sharedTerms(random), side, type: 'market', size: '0.05', slippage: '3', reduceOnly: true }
}

function sharedTerms(random: SeededRandom): Body {
  return { market: 'BTC/USD', size: randomSize(random), leverage: random.pick(['5', '10', '25']) }
}
