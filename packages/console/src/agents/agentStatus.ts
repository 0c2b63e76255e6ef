import type { Agent } from '@bezel/sdk'
import type { AgentDraft } from './agentDraft.ts'

/** The chain's word on who may trade for the trader: an address, null for nobody, undefined while it is not known. */
export type ChainDelegate = `0x${string}` | null | undefined

/** The state of an agent as the list shows it. */
export interface AgentState {
  readonly tone: 'good' | 'bad' | 'warn' | 'none'
  /** A word or two for the badge. */
  readonly label: string
  /** Meaning of the state and the next thing to do; null when the label says it all. */
  readonly sentence: string | null
  /** The transaction that is due now, if any. */
  readonly due: 'delegate' | 'undelegate' | null
}

/** Returns the state of an agent, by its record, the chain and the clock of the service. */
export function agentStateOf(agent: Agent, delegate: ChainDelegate, nowMs: number): AgentState {
  const { scope, status } = agent
  if (status === 'revoked') return endedState(agent, delegate, { label: 'revoked', tone: 'none' })
  if (status === 'expired' || (scope.expiresAt !== null && scope.expiresAt <= nowMs)) {
    return endedState(agent, delegate, { label: 'expired', tone: 'warn' })
  }
  if (isOwnWallet(agent)) {
    return { tone: 'good', label: 'active', sentence: 'Your wallet itself. It needs no delegation.', due: null }
  }
  if (scope.permissions === 'read') return { tone: 'good', label: 'may read', sentence: null, due: null }
  if (status === 'active') return { tone: 'good', label: 'active', sentence: null, due: null }
  if (agent.mode === 'relayed') {
    const sentence = 'It trades through the relayer, which is not your delegate. Approve it again where it was made.'
    return { tone: 'warn', label: 'not delegated', sentence, due: null }
  }
  const sentence = 'It may not trade before your wallet has sent the delegation.'
  return { tone: 'warn', label: 'waits for delegation', sentence, due: 'delegate' }
}

function endedState(
  agent: Agent,
  delegate: ChainDelegate,
  { label, tone }: Pick<AgentState, 'label' | 'tone'>,
): AgentState {
  if (!isSame(agent.agent, delegate) || isOwnWallet(agent)) return { tone, label, sentence: null, due: null }
  const sentence =
    'The service refuses it, but it is still your delegate on the chain: it can trade there without this service. End the delegation.'
  return { tone: 'bad', label: `${label}, still delegate`, sentence, due: 'undelegate' }
}

/** Returns true for the trader's wallet as its own agent. */
export function isOwnWallet({ agent, trader }: Pick<Agent, 'agent' | 'trader'>): boolean {
  return isSame(agent, trader)
}

/** Returns true when two addresses are the same, however they are written. */
export function isSame(a: string, b: string | null | undefined): boolean {
  return a.toLowerCase() === b?.toLowerCase()
}

/**
 * Returns the address under which a draft was registered; null before. A key that was made here and is listed was
 * registered, also when the page was reloaded before it had the answer.
 */
export function registeredOf(
  { kind, hasOwnKey, address, registered }: Pick<AgentDraft, 'kind' | 'hasOwnKey' | 'address' | 'registered'>,
  agents: readonly Agent[] | null,
): `0x${string}` | null {
  if (registered !== null || kind !== 'new' || !hasOwnKey) return registered
  return agents?.find(({ agent }) => isSame(agent, address))?.agent ?? null
}

/**
 * Returns whom a delegation to `next` would replace, in words; null when it replaces nobody. A trader has one delegate
 * on the chain, so the one before can't trade from then on.
 */
export function replacedBy(
  next: string,
  known: { readonly delegate: ChainDelegate; readonly agents: readonly Agent[]; readonly relayer: string | null },
): string | null {
  const { agents, relayer } = known
  const delegate = known.delegate === undefined ? guessDelegate(agents) : known.delegate
  if (delegate === null || isSame(next, delegate)) return null
  if (relayer !== null && isSame(delegate, relayer))
    return 'the relayer, which sends for agents of the exchange interface'
  const found = agents.find(({ agent }) => isSame(agent, delegate))
  if (found === undefined) return `${delegate}, which this service does not know`
  return found.name === '' ? `the agent ${found.agent}` : `the agent ${found.name} (${found.agent})`
}

/** Returns the agent that the service takes for the delegate, for a wallet that can't read the chain. */
function guessDelegate(agents: readonly Agent[]): string | null {
  const active = agents.find((agent) => agent.status === 'active' && agent.mode === 'self' && !isOwnWallet(agent))
  return active?.agent ?? null
}

/** Returns the agents in the order of the list: those in use first, then those that have ended; the newest first. */
export function sortAgents(agents: readonly Agent[]): readonly Agent[] {
  const isEnded = ({ status }: Agent): number => (status === 'revoked' || status === 'expired' ? 1 : 0)
  return [...agents].toSorted((a, b) => isEnded(a) - isEnded(b) || b.createdAt - a.createdAt)
}
