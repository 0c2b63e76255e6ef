import { createBezelClient } from '@bezel/sdk'
import { effect, untracked, type ReadonlySignal } from '@preact/signals'
import { CHAIN_SLUGS } from '@bezel/protocol/wire'
import { chainInfo } from '../data/chain.ts'
import { identity, refusedKey } from '../data/client.ts'
import { ensureClock, serverNow } from '../data/now.ts'
import { apiBaseUrl, settings } from '../data/settings.ts'
import { browserStore, tabStore } from '../data/storage.ts'
import type { Problem } from '../ground/problem.ts'
import { pushToast } from '../ui/toasts.ts'
import { AccountChangedError, createSession, type SessionState } from './createSession.ts'
import { createKeyRing, openTabChannel } from './keyRing.ts'
import { createProviderSigner, type SignerFacts } from './providerSigner.ts'

export type { SessionState } from './createSession.ts'

const keys = createKeyRing({
  tab: tabStore,
  browser: browserStore,
  channel: openTabChannel(),
  randomHex,
  onEndedElsewhere: () => machine.keyEndedElsewhere(),
})

/** The label of this browser's keys, for instance `console-1a2b3c`. */
export const keyLabel: string = keys.label

/** The active chain and the time of the service, for signatures of a wallet. */
export const signerFacts: SignerFacts = { chainId: () => chainInfo.peek()?.chainId, now: serverNow }

const machine = createSession({
  tab: tabStore,
  keys,
  chain: chainInfo,
  signerOf: ({ provider }, address) => createProviderSigner(provider, address, signerFacts),
  async issueKey(trader, label) {
    const client = clientOf(chainInfo.peek()?.slug ?? '')
    await ensureClock(client)
    return (await client.agents.issueApiKey({ trader, label })).apiKey
  },
  endKey: (trader, { chain, label }) => clientOf(chain).agents.revokeApiKey({ trader, label }),
  tell: (told) => pushToast({ ...told, key: 'session' }),
})

/** The session of this tab. */
export const session: ReadonlySignal<SessionState> = machine.session

/** A number that grows whenever the account or the wallet changes, so that an action of before is given up. */
export const epoch: ReadonlySignal<number> = machine.epoch

/** The problem with connecting, signing in or switching the chain; null while all is well. */
export const sessionProblem: ReadonlySignal<Problem | null> = machine.problem

/** Connects a wallet by asking its owner. What goes wrong is in `sessionProblem`. */
export const openSession = machine.connect

/** Connects the wallet of before a reload, once it is among the options, without asking. */
export const restoreSession = machine.restore

/**
 * Signs in: one signature for a read-only key of this browser, or none where another tab has it. Returns true when
 * signed in; what goes wrong is in `sessionProblem`.
 */
export const signIn = (): Promise<boolean> => machine.signIn()

/** Asks the wallet to go to the active chain, and adds the chain to it if need be. Returns true when it is there. */
export const switchChain = (): Promise<boolean> => machine.switchChain()

/** Forgets the wallet and ends the key of this browser. When its signature is refused, Agents > Keys still lists it. */
export const disconnect = (): Promise<void> => machine.disconnect()

/** Throws `AccountChangedError` when the account is not the one of `since` any more. */
export function guardEpoch(since: number): void {
  if (epoch.peek() !== since) throw new AccountChangedError()
}

/** Time in which the wallet of before a reload should announce itself. */
const RESTORE_MS = 3_000

/** Starts the session: the account that is read follows it. Returns how to stop. */
export function startSession(): () => void {
  const timer = setTimeout(machine.stopWaiting, RESTORE_MS)
  let chain = chainInfo.peek()
  const stops = [
    effect(() => {
      const now = machine.session.value
      const apiKey = machine.apiKey.value
      identity.value = now.kind === 'connected' && apiKey !== null ? { trader: now.address, apiKey } : null
    }),
    effect(() => {
      const refused = refusedKey.value
      if (refused !== null) untracked(() => machine.keyRefused(refused))
    }),
    effect(() => {
      const isOther = chainInfo.value !== chain
      chain = chainInfo.value
      if (isOther) untracked(machine.chainChosen)
    }),
  ]
  return () => {
    clearTimeout(timer)
    stops.forEach((stop) => stop())
  }
}

/** Returns a client without credentials, whose signatures have the time of the service. */
function clientOf(slug: string): ReturnType<typeof createBezelClient> {
  const chain = settings.peek()?.chains.find((known) => known.slug === slug)
  return createBezelClient({
    baseUrl: apiBaseUrl(),
    chain: CHAIN_SLUGS.find((known) => known === slug) ?? 'arbitrum-sepolia',
    now: serverNow,
    ...(chain === undefined ? {} : { diamond: chain.diamond }),
  })
}

function randomHex(bytes: number): string {
  const random = crypto.getRandomValues(new Uint8Array(bytes))
  return Array.from(random, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
