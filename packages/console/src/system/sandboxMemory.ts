/** The controls that were set from this browser. The local chain does not tell them, so the page remembers. */
export interface SandboxMemory {
  /** Hash of the first block: each start of the local chain is a fresh one, with everything running. */
  readonly genesis: string | null
  /** Chains whose oracle is paused. */
  readonly oraclePaused: readonly string[]
  /** Chains whose keeper is paused. */
  readonly keeperPaused: readonly string[]
  /** Delays of oracles by chain, in milliseconds. */
  readonly oracleDelayMs: Readonly<Record<string, number>>
  /** Markets whose price stands still. Prices are one for all chains. */
  readonly frozen: readonly string[]
  /** Markets that were opened (true) or closed (false) against their hours. */
  readonly hours: Readonly<Record<string, boolean>>
}

/** A control that was set. */
export type SandboxChange =
  | { readonly control: 'oracle' | 'keeper'; readonly chain: string; readonly isPaused: boolean }
  | { readonly control: 'delay'; readonly chain: string; readonly delayMs: number }
  | { readonly control: 'freeze'; readonly market: string; readonly isFrozen: boolean }
  | {
      readonly control: 'hours'
      readonly market: string
      /** Null for its own hours. */ readonly isOpen: boolean | null
    }

/** A local chain at its start. */
export const FRESH_SANDBOX: SandboxMemory = {
  genesis: null,
  oraclePaused: [],
  keeperPaused: [],
  oracleDelayMs: {},
  frozen: [],
  hours: {},
}

/** Returns the memory after a control was set. */
export function noteChange(memory: SandboxMemory, change: SandboxChange): SandboxMemory {
  switch (change.control) {
    case 'oracle':
      return { ...memory, oraclePaused: withMember(memory.oraclePaused, change.chain, change.isPaused) }
    case 'keeper':
      return { ...memory, keeperPaused: withMember(memory.keeperPaused, change.chain, change.isPaused) }
    case 'delay':
      return { ...memory, oracleDelayMs: { ...memory.oracleDelayMs, [change.chain]: change.delayMs } }
    case 'freeze':
      return { ...memory, frozen: withMember(memory.frozen, change.market, change.isFrozen) }
    case 'hours': {
      const { [change.market]: _before, ...others } = memory.hours
      return { ...memory, hours: change.isOpen === null ? others : { ...others, [change.market]: change.isOpen } }
    }
  }
}

/** Returns the memory of a chain with this first block: what is remembered of another one does not count. */
export function memoryOfChain(memory: SandboxMemory, genesis: string): SandboxMemory {
  return memory.genesis === genesis ? memory : { ...FRESH_SANDBOX, genesis }
}

/** Reads what was remembered. Anything else is a fresh chain. */
export function readSandboxMemory(stored: unknown): SandboxMemory {
  const found = stored as Partial<SandboxMemory> | null | undefined
  return typeof found?.genesis === 'string' ? { ...FRESH_SANDBOX, ...found } : FRESH_SANDBOX
}

function withMember(list: readonly string[], member: string, isIn: boolean): readonly string[] {
  const others = list.filter((name) => name !== member)
  return isIn ? [...others, member] : others
}
