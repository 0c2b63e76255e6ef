import type { ApiKey, IssuedApiKey } from '@bezel/sdk'
import { computed, effect, signal, untracked, type Signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { activeChain } from '../data/chain.ts'
import { serverNow } from '../data/now.ts'
import { runAction } from '../session/act.ts'
import { walletSigner } from '../session/sender.ts'
import { epoch, session } from '../session/session.ts'
import { renewAudit } from './auditState.ts'

/** The read-only keys of the trader; null until they were listed, which takes a signature. */
export const apiKeys: Signal<readonly ApiKey[] | null> = signal(null)

/** The key that was issued last, which is shown once; null when there is none. */
export const issuedKey: Signal<IssuedApiKey | null> = signal(null)

/** Names of the actions. */
export const LIST_KEYS = 'keys-list'
export const ISSUE_KEY = 'key-issue'
export const endKeyAction = (label: string): string => `key-end-${label}`

/** The longest label that the service takes. */
const MAX_LABEL_CHARS = 64

/** Returns what is wrong with a label; null when it can be used. */
export function labelProblem(label: string, own: string): string | null {
  if (label.trim() === '') return 'Give it a name by which you will know it, for instance dashboard.'
  if (label.length > MAX_LABEL_CHARS) return `A name has at most ${MAX_LABEL_CHARS} characters.`
  return label === own ? "This is the name of this browser's own key. Take another one." : null
}

/** True when listing asks nobody: a sandbox wallet signs by itself. */
const isQuiet = computed(() => {
  const who = session.value
  return who.kind === 'connected' && who.isSignedIn && who.wallet.kind === 'sandbox'
})

/** Forgets the list when the account or the chain changes, and lists at once where that asks nobody. */
export function useApiKeys(): void {
  useEffect(
    () =>
      effect(() => {
        void [epoch.value, activeChain.value]
        const isListed = isQuiet.value
        untracked(() => {
          apiKeys.value = null
          issuedKey.value = null
          if (isListed) void listKeys()
        })
      }),
    [],
  )
}

/** Lists the keys: one signature. */
export async function listKeys(): Promise<void> {
  await runAction(
    LIST_KEYS,
    async (client, guard) => {
      const found = await client.agents.listApiKeys({ trader: walletSigner() })
      guard()
      apiKeys.value = found
    },
    { needs: 'wallet' },
  )
}

/** Issues a key: one signature. Returns true when it is there. */
export async function issueKey(label: string): Promise<boolean> {
  const issued = await runAction(
    ISSUE_KEY,
    (client) => client.agents.issueApiKey({ trader: walletSigner(), label: label.trim() }),
    { needs: 'wallet', done: 'API key issued' },
  )
  if (issued === undefined) return false
  issuedKey.value = issued
  const others = (apiKeys.peek() ?? []).filter((key) => key.label !== issued.label)
  apiKeys.value = [...others, { label: issued.label, createdAt: serverNow(), lastUsedAt: null }]
  void renewAudit()
  return true
}

/** Ends a key at once: one signature. */
export async function endKey(label: string): Promise<boolean> {
  const done = await runAction(
    endKeyAction(label),
    async (client) => {
      await client.agents.revokeApiKey({ trader: walletSigner(), label })
      return true
    },
    { needs: 'wallet', done: 'API key ended' },
  )
  if (done !== true) return false
  apiKeys.value = apiKeys.peek()?.filter((key) => key.label !== label) ?? null
  if (issuedKey.peek()?.label === label) issuedKey.value = null
  void renewAudit()
  return true
}
