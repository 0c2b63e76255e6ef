import type { ChainSlug } from '@bezel/sdk'
import { computed, signal, type ReadonlySignal, type Signal } from '@preact/signals'
import { settings, type ConsoleChain } from './settings.ts'
import { readStored, tabStore, writeStored } from './storage.ts'

/** The chain that everything on the page is about. */
export const activeChain: Signal<ChainSlug> = signal('arbitrum-sepolia')

/** The active chain as the settings describe it; null until they are loaded. */
export const chainInfo: ReadonlySignal<ConsoleChain | null> = computed(
  () => settings.value?.chains.find(({ slug }) => slug === activeChain.value) ?? null,
)

const STORED = 'chain'

/** Makes a chain the active one. Returns false, and changes nothing, when the service does not offer it. */
export function chooseChain(slug: string): boolean {
  const found = settings.value?.chains.find((chain) => chain.slug === slug)
  if (found === undefined) return false
  activeChain.value = found.slug
  writeStored(tabStore, STORED, found.slug)
  return true
}

/**
 * Chooses the chain to begin with: that of the address (`?chain=base`), else that of before a reload, else the first.
 */
export function chooseFirstChain(search: string): void {
  const named = new URLSearchParams(search).get('chain')
  const stored = readStored(tabStore, STORED)
  const first = settings.value?.chains[0]?.slug
  for (const slug of [named, stored, first]) if (typeof slug === 'string' && chooseChain(slug)) return
}
