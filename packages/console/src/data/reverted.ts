import type { LogChange } from '@bezel/sdk'

/**
 * Returns a sentence about an event of a reorganisation; null when another event of it says more. An order comes with
 * fills, positions and an account that say the same.
 */
export function revertedWords(event: LogChange): string | null {
  if (event.channel !== 'orders') return null
  const { id, market, status } = event.data
  const now = status === 'expired' ? 'gone' : `${status.replace('_', ' ')} again`
  return `The last blocks were replaced. Order ${id} in ${market} is ${now}; what you see is what holds now.`
}
