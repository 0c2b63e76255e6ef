import { ApiError, type Address } from '@bezel/protocol'
import { NodeUnavailableError } from '../ground/unavailable.ts'
import { noteDisplaced, noteSignedAt, readClaimedAtMs, readSignedAtMs } from '../store/acceptedStructStore.ts'
import { holdAgent, listRelayedNamesakes, listUsersElsewhere, saveAgent } from '../store/agentStore.ts'
import { removeClaim } from '../store/claimStore.ts'
import type { Sql, Transaction } from '../store/sql.ts'
import { isProven, wasUsed, type AgentRecord } from '../trading/agentRecord.ts'
import { requiredDelegate, type ChainAgents } from './chainAgents.ts'
import { dropEndedClaims, holdClaim, refuseManyAgents, refuseReplay } from './claims.ts'
import { claimOf, noteStructs } from './proofs.ts'
import type { Registry } from './registry.ts'
import { tellAgentEnded, tellAgentRegistered, type RightsCause } from './rightsLog.ts'
import { zeroAddress } from 'viem'

/** The zero address, whose approval ends the agent of a name. */
export const NOBODY = zeroAddress as Address

/** Time for which a claim that is not in force holds an agent against claims of others without its signature. */
const CLAIM_HOLDS_MS = 86_400_000

/** The parts of a chain that registrations need. */
export type RegistrationParts = Pick<ChainAgents, 'registry' | 'relayer'> & {
  readonly delegates: Pick<ChainAgents['delegates'], 'look'>
}

/** A registration whose signatures are verified. */
export interface Registration {
  readonly record: AgentRecord
  /** Network that the request came from (`registrationNetworkOf`). */
  readonly network: string
  readonly cause: RightsCause
}

/** The delegates of two traders that claim the same agent. */
export interface ChainView {
  /** The trader that the agent is registered for. */
  readonly holder: Address
  /** True when the holder's delegate is the one that its agent needs, or is not known. */
  readonly isHolderDelegated: boolean
  /** True when the claimant's delegate is the relayer that its agent needs. */
  readonly isClaimantRelayed: boolean
}

/**
 * Registers an agent, or replaces its trader's earlier registration of it, which also lifts a revocation. A relayed one
 * ends the trader's older relayed agent of the same name in the same transaction. Returns the stored record. Throws
 * `TRADER_MISMATCH`, `NONCE_REUSED` and `UNSUPPORTED`.
 */
export async function registerAgent(parts: RegistrationParts, of: Registration): Promise<AgentRecord> {
  const { registry } = parts
  const { record, network, cause } = of
  const { nowMs } = cause
  const view = await lookAtHolder(parts, record)
  return registry.changeAgent(record.chain, record.agent, async (stored, sql) => {
    const claimedAtMs = await readClaimedAtMs(sql, record)
    const isContested = stored !== undefined && stored.trader !== record.trader
    const users = isContested ? await listUsersElsewhere(sql, record) : []
    requireClaim({ stored, next: record, view, nowMs, claimedAtMs, users })
    await refuseOldStruct(sql, record)
    if (record.mode === 'relayed') await endNamesakes(sql, registry, record, cause)
    await refuseManyAgents(sql, record, nowMs)
    if (isContested) {
      await noteStructs(sql, stored, nowMs)
      if (view?.isClaimantRelayed === true) await noteDisplaced(sql, stored)
    }
    const first = claimedAtMs === 0 ? record : { ...record, createdAtMs: claimedAtMs }
    const next = stored?.trader === record.trader ? continued(stored, record) : first
    const kept = record.mode === 'relayed' ? datedNow(next, stored, nowMs) : next
    const claim = await removeClaim(sql, claimOf(kept))
    const isTold = await tellAgentRegistered(sql, { stored, next: kept, claim }, cause)
    if (isProven(kept) || kept.signedAtMs < record.signedAtMs) {
      await noteStructs(sql, { ...record, standing: kept.standing }, nowMs)
    }
    if (!isProven(kept)) {
      const untold = isTold ? undefined : cause
      const gone = await dropEndedClaims(sql, kept, nowMs)
      gone.push(...(await holdClaim(sql, claimOf(kept), { network, nowMs, maxClaims: registry.maxClaims, untold })))
      registry.tellGone(sql, gone)
    }
    return kept
  })
}

/** Returns the new record of an agent that its trader registered before: what was proven of it stays proven. */
function continued(stored: AgentRecord, next: AgentRecord): AgentRecord {
  return {
    ...next,
    createdAtMs: stored.createdAtMs,
    agentSigned: next.agentSigned || stored.agentSigned,
    standing: stored.standing,
  }
}

/**
 * Returns an approved agent as signed now at the latest: the clock of the client may be ahead, a revocation has to be
 * newer, and it may come at once. The nonce itself still orders approvals, and is used up, so none is accepted twice.
 */
function datedNow<Signed extends Pick<AgentRecord, 'trader' | 'signedAtMs'>>(
  next: Signed,
  stored: Pick<AgentRecord, 'trader' | 'signedAtMs'> | undefined,
  nowMs: number,
): Signed {
  const lastMs = stored?.trader === next.trader ? stored.signedAtMs : 0
  return { ...next, signedAtMs: Math.max(lastMs, Math.min(next.signedAtMs, nowMs)) }
}

/**
 * Takes a name for an approval, or gives it up for one of the zero address, in its transaction: the trader's relayed
 * agents of that name end, but for the trader itself, where it signs as its own agent. Approvals of a name must come in
 * the order of their nonces, whatever became of the agents meanwhile. Throws `NONCE_REUSED`.
 */
export async function endNamesakes(
  sql: Transaction,
  registry: Pick<Registry, 'tellAgent'>,
  approval: Pick<AgentRecord, 'chain' | 'trader' | 'agent' | 'name' | 'signedAtMs'>,
  cause: RightsCause,
): Promise<void> {
  const { chain, trader, agent, name, signedAtMs } = approval
  const { nowMs } = cause
  const named = { chain, agent: `name ${name}`, trader } as const
  // To end an agent, being newer than its approval is enough, which may be dated ahead.
  if (agent !== NOBODY) refuseReplay(await readSignedAtMs(sql, named), signedAtMs)
  await noteSignedAt(sql, named, { signedAtMs, isKept: false, nowMs })
  for (const listed of await listRelayedNamesakes(sql, { chain, trader, name })) {
    if (listed.agent === agent || listed.agent === trader) continue
    const namesake = await holdAgent(sql, chain, listed.agent)
    if (namesake === undefined) continue
    // An approval that was held back must not end a newer agent.
    refuseReplay(namesake.signedAtMs, signedAtMs)
    await noteStructs(sql, namesake, nowMs)
    const record = datedNow({ ...namesake, revoked: true, signedAtMs }, namesake, nowMs)
    await saveAgent(sql, record)
    await noteSignedAt(sql, { chain, agent: namesake.agent, trader }, { signedAtMs, isKept: isProven(record), nowMs })
    await tellAgentEnded(sql, 'agent_replaced', record, cause)
    registry.tellAgent(sql, record, namesake)
  }
}

/**
 * Throws when a registration may not replace the stored one of the same agent. An agent serves one trader per chain,
 * and only the trader's signature is required, so a stranger could claim somebody's agent: the agent's own signature
 * decides. Without it an agent stays where it is, also when it is revoked or expired, unless the stored registration
 * was not in force for 24 h. Of two traders neither of whom has the agent's signature or an accepted action of it, the
 * one for whom the agent acted on another chain of the deployment wins, then the one whose delegate is the relayer; of
 * two such, the one who claimed it first, unless the agent acts for somebody else on another chain. `claimedAtMs` is
 * when the claimant did so, if the agent was taken from it; else 0. `users` are the traders whom it acted for
 * elsewhere.
 */
export function requireClaim(of: {
  readonly stored: AgentRecord | undefined
  readonly next: AgentRecord
  readonly view: ChainView | undefined
  readonly nowMs: number
  readonly claimedAtMs: number
  readonly users: readonly Address[]
}): void {
  const { stored, next, view, nowMs, claimedAtMs, users } = of
  if (stored === undefined || stored.trader === next.trader || next.agentSigned) return
  // What was seen of another holder says nothing about this one.
  const isHolderDelegated = view?.holder !== stored.trader || view.isHolderDelegated
  const isStale = stored.standing === 'claimed' && nowMs - stored.createdAtMs >= CLAIM_HOLDS_MS && !isHolderDelegated
  if (isStale) return
  const wasInForce = wasUsed(stored) || (stored.standing === 'delegated' && stored.revoked)
  const isUnproven = !wasInForce && !stored.agentSigned
  const [isHoldersKey, isClaimantsKey] = [users.includes(stored.trader), users.includes(next.trader)]
  if (isClaimantsKey && !isHoldersKey && !stored.agentSigned && !wasUsed(stored)) return
  const isOpen = isUnproven && (isClaimantsKey || !isHoldersKey)
  const isEarlier = claimedAtMs > 0 && claimedAtMs < stored.createdAtMs && (isClaimantsKey || users.length === 0)
  const isFirst = !isHolderDelegated || isEarlier
  if (next.mode === 'relayed' && isOpen && isFirst && view?.isClaimantRelayed === true) return
  throw new ApiError('TRADER_MISMATCH', 'This agent is registered for another trader.', {
    remedy: 'Send `agentSignature`, the signature of the agent itself over the same struct, to move it.',
  })
}

/** Reads what the chain says, only where it can decide between two claims. */
async function lookAtHolder(parts: RegistrationParts, next: AgentRecord): Promise<ChainView | undefined> {
  if (next.agentSigned) return undefined
  const stored = await parts.registry.findAgent(next.chain, next.agent)
  if (stored === undefined || stored.trader === next.trader || wasUsed(stored)) return undefined
  const holders = await delegateNow(parts, stored.trader)
  const claimants = next.mode === 'relayed' ? await delegateNow(parts, next.trader) : undefined
  return {
    holder: stored.trader,
    isHolderDelegated: holders === undefined || holders === requiredDelegate(parts, stored),
    isClaimantRelayed: claimants !== undefined && claimants === parts.relayer,
  }
}

/**
 * Reads a trader's delegate; `undefined` while the node is away. An earlier look does not do, because the holder's
 * delegation may have been mined a moment ago.
 */
async function delegateNow({ delegates }: RegistrationParts, trader: Address): Promise<Address | undefined> {
  try {
    return await delegates.look(trader, 0)
  } catch (error) {
    if (error instanceof NodeUnavailableError) return undefined
    throw error
  }
}

/**
 * Throws unless the struct is newer than the last one that this trader signed about this agent and, when the agent
 * signed it too, than the last one that the agent signed for anybody: its signature does not name the trader.
 */
async function refuseOldStruct(
  sql: Sql,
  { chain, agent, trader, agentSigned, signedAtMs }: AgentRecord,
): Promise<void> {
  refuseReplay(await readSignedAtMs(sql, { chain, agent, trader }), signedAtMs)
  if (agentSigned) refuseReplay(await readSignedAtMs(sql, { chain, agent, trader: '' }), signedAtMs)
}
