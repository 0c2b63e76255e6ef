import { computed, effect, signal, type ReadonlySignal } from '@preact/signals'
import { markets } from '../data/markets.ts'
import { route } from '../router/router.ts'

const seen = signal<string | null>(null)

effect(() => {
  if (route.value.view === 'trade') seen.value = route.value.market
})

/** The market that Trade opens: the one that was seen last, else the first of the chain. */
export const lastMarket: ReadonlySignal<string> = computed(() => {
  const listed = markets.value
  const isListed = listed === null || listed.some(({ symbol }) => symbol === seen.value)
  return seen.value !== null && isListed ? seen.value : (listed?.[0]?.symbol ?? 'BTC/USD')
})
