import { createBezelClient, type BezelClient, type Signer, type TransactionSender } from '@bezel/sdk'
import { computed, signal, type ReadonlySignal, type Signal } from '@preact/signals'
import { activeChain, chainInfo } from './chain.ts'
import { serverNow } from './now.ts'
import { apiBaseUrl } from './settings.ts'

/** The account that is read. The session sets it. */
export interface Identity {
  readonly trader: `0x${string}`
  /** Read-only key of the trader on the active chain. */
  readonly apiKey: string
}

/** The key that signs requests and sends transactions. The session sets it. */
export interface TradingKey {
  readonly signer: Signer
  readonly sender: TransactionSender
  readonly trader: `0x${string}`
  /** True when each signature is a prompt of a wallet. */
  readonly isWallet: boolean
}

/** The account that is read; null while nobody is signed in. */
export const identity: Signal<Identity | null> = signal(null)

/** The key that trades; null while no wallet is connected. */
export const tradingKey: Signal<TradingKey | null> = signal(null)

/** The read-only key that the service refused last; null before it refused one. The session forgets such a key. */
export const refusedKey: Signal<string | null> = signal(null)

/** A client that reads public data of the active chain. */
export const publicClient: ReadonlySignal<BezelClient> = computed(() => createBezelClient(baseOptions()))

/** A client that reads the account of who is signed in, and its stream; null while nobody is. */
export const accountClient: ReadonlySignal<BezelClient | null> = computed(() => {
  if (identity.value === null) return null
  return createBezelClient({ ...baseOptions(), ...identity.value, fetch: watchedFetch(identity.value.apiKey) })
})

/**
 * Returns a client that signs and sends with a key, by default with the active one. Throws `NotConnectedError`. Prefer
 * `runAction`, which passes one that also keeps an order from being placed twice.
 */
export function traderClient(key: TradingKey | null = tradingKey.peek()): BezelClient {
  if (key === null) throw new NotConnectedError()
  const known = identity.peek()
  const isKnown = known !== null && known.trader === key.trader
  return createBezelClient({
    ...baseOptions(),
    trader: key.trader,
    agent: key.signer,
    sender: key.sender,
    ...(isKnown ? { apiKey: known.apiKey, fetch: watchedFetch(known.apiKey) } : {}),
    // Each retry of a signed call, and each report of a hash, would be one more prompt of the wallet.
    ...(key.isWallet ? { maxRetries: 0, reportHashes: false } : {}),
  })
}

function baseOptions(): Parameters<typeof createBezelClient>[0] {
  const diamond = chainInfo.value?.diamond
  return {
    baseUrl: apiBaseUrl(),
    chain: activeChain.value,
    now: serverNow,
    ...(diamond === undefined ? {} : { diamond }),
  }
}

const UNAUTHENTICATED = 401

/** Returns a `fetch` that notices when the read-only key is refused, whoever made the call. */
function watchedFetch(apiKey: string): typeof globalThis.fetch {
  return async (url, init) => {
    const answer = await globalThis.fetch(url, init)
    const isByKey = new Headers(init?.headers).has('x-service-api-key')
    if (answer.status === UNAUTHENTICATED && isByKey) refusedKey.value = apiKey
    return answer
  }
}

/** The error of an action that needs a wallet while none is connected. */
export class NotConnectedError extends Error {
  override readonly name = 'NotConnectedError'
  readonly code = 'NOT_CONNECTED'

  constructor() {
    super('No wallet is connected. Connect one at the top of the page, then try again.')
  }
}
