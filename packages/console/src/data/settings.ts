import { CHAIN_SLUGS, type ChainSlug } from '@bezel/sdk'
import { signal, type ReadonlySignal } from '@preact/signals'

/** A chain that the service offers to the console. */
export interface ConsoleChain {
  readonly slug: ChainSlug
  readonly chainId: number
  /** Name for people, for instance `Base`. */
  readonly name: string
  readonly diamond: `0x${string}`
  /** URL of the chain's node; only the sandbox tells it. */
  readonly rpcUrl: string | null
  /** Address of a block explorer without a slash at its end; null where there is none. */
  readonly explorer: string | null
}

/** An account of the sandbox, whose key everybody knows. */
export interface SandboxAccount {
  readonly name: string
  readonly address: `0x${string}`
  readonly privateKey: `0x${string}`
}

/** Description that the service gives the console of itself, from `/console.json`. */
export interface ConsoleSettings {
  /** Origin of the interface; empty for the origin of the page. */
  readonly apiBase: string
  /** Chains, the default one first. */
  readonly chains: readonly ConsoleChain[]
  /** Accounts of the local chain; null on live chains. */
  readonly sandbox: { readonly accounts: readonly SandboxAccount[] } | null
  readonly version: string | null
}

const loaded = signal<ConsoleSettings | null>(null)

/** The settings; null until they are loaded. */
export const settings: ReadonlySignal<ConsoleSettings | null> = loaded

/** Reads the settings of the page and keeps them. Throws a sentence for people when they can't be had. */
export async function loadSettings(
  fetch: typeof globalThis.fetch = (...of) => globalThis.fetch(...of),
): Promise<ConsoleSettings> {
  const answer = await fetch('/console.json', { cache: 'no-cache', headers: { accept: 'application/json' } })
  if (!answer.ok)
    throw new Error(
      `The service answered ${answer.status} to the settings of the console. Reload the page in a moment.`,
    )
  loaded.value = checkSettings(await answer.json())
  return loaded.value
}

/** Returns settings whose shape is right. Throws otherwise. */
export function checkSettings(found: unknown): ConsoleSettings {
  const told = found as ConsoleSettings | null
  const chains = Array.isArray(told?.chains) ? told.chains.filter(({ slug }) => CHAIN_SLUGS.includes(slug)) : []
  if (told === null || chains.length === 0)
    throw new Error('The service offers no chain. Look at its log and reload the page.')
  return { ...told, apiBase: told.apiBase ?? '', chains, sandbox: told.sandbox ?? null }
}

/** Returns the address of the interface: that of the settings, else the origin of the page. */
export function apiBaseUrl(): string {
  const base = loaded.value?.apiBase ?? ''
  return base === '' ? pageOrigin() : base
}

function pageOrigin(): string {
  const { location } = globalThis as { readonly location?: { readonly origin: string } }
  return location?.origin ?? 'http://127.0.0.1:8080'
}
