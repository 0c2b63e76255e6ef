import type { AgentScope } from '@bezel/sdk'
import { signal, type ReadonlySignal } from '@preact/signals'
import { readStored, writeStored, type KeyValueStore } from '../data/storage.ts'
import type { KeyOwner } from './keyRing.ts'

/** A session agent as it is kept in the tab. */
export interface StoredAgent {
  readonly privateKey: `0x${string}`
  readonly scope: AgentScope
  /** The step that comes next; `ready` after all of them. */
  readonly stage: 'authorising' | 'funding' | 'delegating' | 'ready'
  /** True when it signs orders, false when the wallet does. */
  readonly isActive: boolean
}

/** The session agents of a tab, one for each chain and account. They end with the tab. */
export interface AgentStore {
  /** Grows whenever one changes. */
  readonly version: ReadonlySignal<number>
  agentOf(owner: KeyOwner): StoredAgent | null
  /** Keeps an agent; null forgets it. */
  write(owner: KeyOwner, agent: StoredAgent | null): void
}

const STORED = 'sessionAgent'

/** Creates the store over the storage of the tab. */
export function createAgentStore(tab: KeyValueStore): AgentStore {
  const version = signal(0)
  const nameOf = ({ chain, trader }: KeyOwner): string => `${STORED} ${chain} ${trader.toLowerCase()}`
  return {
    version,
    agentOf(owner) {
      const found = readStored(tab, nameOf(owner)) as StoredAgent | null
      return typeof found?.privateKey === 'string' ? found : null
    },
    write(owner, agent) {
      writeStored(tab, nameOf(owner), agent)
      version.value += 1
    },
  }
}
