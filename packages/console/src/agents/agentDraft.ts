import type { Agent } from '@bezel/sdk'
import { signal, type ReadonlySignal } from '@preact/signals'
import { generatePrivateKey, privateKeyToAccount, type PrivateKeyAccount } from 'viem/accounts'
import { readStored, tabStore, writeStored } from '../data/storage.ts'
import { formOfScope, NEW_SCOPE, type ScopeForm } from './scopeForm.ts'

/** An agent that is being made or changed. It survives a reload, except for its key, which is never stored. */
export interface AgentDraft {
  readonly kind: 'new' | 'change'
  /** Address as it is typed, or that of the key that was made here. */
  readonly address: string
  readonly name: string
  readonly form: ScopeForm
  /** True when a key was made here for it. After a reload that key is gone. */
  readonly hasOwnKey: boolean
  /** Address under which it was registered; null before. */
  readonly registered: `0x${string}` | null
}

/** A key that was made here, in memory only. */
export interface MadeKey {
  readonly privateKey: `0x${string}`
  readonly account: PrivateKeyAccount
  /** True once it was downloaded or copied. */
  readonly isSaved: boolean
}

const STORED = 'agent-draft'

const draft = signal<AgentDraft | null>(readDraft(readStored(tabStore, STORED)))
const key = signal<MadeKey | null>(null)

/** The draft; null while nothing is being made. */
export const agentDraft: ReadonlySignal<AgentDraft | null> = draft

/** The key of the draft; null when none was made, and after a reload. */
export const madeKey: ReadonlySignal<MadeKey | null> = key

/** Begins a new agent. */
export function startAgent(): void {
  keep({ kind: 'new', address: '', name: '', form: NEW_SCOPE, hasOwnKey: false, registered: null })
}

/** Begins a change of an agent's name and limits. */
export function startChange({ agent, name, scope }: Agent): void {
  keep({ kind: 'change', address: agent, name, form: formOfScope(scope), hasOwnKey: false, registered: null })
}

/** Changes the draft. Does nothing when there is none. */
export function changeDraft(changes: Partial<AgentDraft>): void {
  const now = draft.peek()
  if (now !== null) keep({ ...now, ...changes })
}

/** Makes a key for the draft. The one before is forgotten. */
export function makeKey(): void {
  const privateKey = generatePrivateKey()
  const account = privateKeyToAccount(privateKey)
  key.value = { privateKey, account, isSaved: false }
  changeDraft({ address: account.address, hasOwnKey: true })
}

/** Notes that the key was downloaded or copied. */
export function noteSaved(): void {
  if (key.peek() !== null) key.value = { ...key.peek()!, isSaved: true }
}

/** Ends the draft and forgets the key. */
export function endDraft(): void {
  key.value = null
  draft.value = null
  writeStored(tabStore, STORED, null)
}

function keep(next: AgentDraft): void {
  draft.value = next
  writeStored(tabStore, STORED, next)
}

function readDraft(stored: unknown): AgentDraft | null {
  const found = stored as AgentDraft | null
  return typeof found?.form === 'object' && typeof found.address === 'string' ? found : null
}
