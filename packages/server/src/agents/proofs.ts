import { countKeptAgents, noteSignedAt } from '../store/acceptedStructStore.ts'
import { holdAgent, saveAgent } from '../store/agentStore.ts'
import type { ApiKeyRecord } from '../store/apiKeyStore.ts'
import { removeClaim, renewClaim, type ClaimKey } from '../store/claimStore.ts'
import type { Sql } from '../store/sql.ts'
import { isProven, wasUsed, type AgentRecord, type AgentStanding } from '../trading/agentRecord.ts'
import { isKnownTrader } from './knownTrader.ts'
import { tellAgentAdded, tellKeyIssued } from './rightsLog.ts'

/**
 * A proof that an agent is meant for its trader: an accepted request that the chain has nothing to do with, the
 * delegation on the chain, or a request that was accepted because of it.
 */
export type AgentProof = Exclude<AgentStanding, 'claimed'>

/**
 * The greatest number of a trader's agents of which something is kept for ever, also of those that are revoked or moved
 * away. One delegation to the relayer speaks for all of a trader's relayed agents, so that any further one stays a
 * claim, which its use renews.
 */
export const MAX_PROVEN_AGENTS = 200

/** Returns the claim of an agent. */
export function claimOf({ chain, agent }: Pick<AgentRecord, 'chain' | 'agent'>): ClaimKey {
  return { chain, agent, trader: '', label: '' }
}

/**
 * Notes the newest struct of a record that is proven, so that its timestamp stays for ever, or of a claim that goes, so
 * that none of before is accepted again. The record of a claim itself has the timestamp as long as it is there.
 */
export async function noteStructs(sql: Sql, record: AgentRecord, nowMs: number): Promise<void> {
  const { chain, agent, trader, agentSigned, signedAtMs } = record
  const note = { signedAtMs, isKept: isProven(record), nowMs }
  await noteSignedAt(sql, { chain, agent, trader }, note)
  if (agentSigned) await noteSignedAt(sql, { chain, agent, trader: '' }, note)
}

/**
 * Stores a proof that the agent is meant for its trader. A record that it proves, and the timestamps of its structs,
 * are kept for ever; a claim that stays one is renewed, if it was used: anybody can have the chain looked at. Returns
 * the new record; `undefined` when it is as before, or the agent serves another trader by now.
 */
export async function proveAgent(
  sql: Sql,
  { chain, agent, trader }: AgentRecord,
  proof: AgentProof,
  nowMs: number,
): Promise<AgentRecord | undefined> {
  const stored = await holdAgent(sql, chain, agent)
  if (stored === undefined || stored.trader !== trader) return undefined
  const proven = { ...stored, standing: await standingAfter(sql, stored, proof) }
  if (!isProven(proven) && proof !== 'delegated') await renewClaim(sql, claimOf(stored), nowMs)
  if (proven.standing === stored.standing) return undefined
  await saveAgent(sql, proven)
  if (isProven(stored) || !isProven(proven)) return proven
  await noteStructs(sql, proven, nowMs)
  const claim = await removeClaim(sql, claimOf(stored))
  const { createdAtMs } = stored
  if (claim?.untold !== undefined) await tellAgentAdded(sql, proven, { ...claim.untold, nowMs: createdAtMs })
  return proven
}

/** Returns true unless so much is kept of the agent's trader that a further agent stays a claim. */
export async function mayBeProven(sql: Sql, record: AgentRecord): Promise<boolean> {
  return (await countKeptAgents(sql, record, MAX_PROVEN_AGENTS)) < MAX_PROVEN_AGENTS
}

/** Returns the standing of an agent after a proof. A use alone proves nothing, unless the chain knows the trader. */
async function standingAfter(sql: Sql, stored: AgentRecord, proof: AgentProof): Promise<AgentStanding> {
  const isUsed = proof !== 'delegated' || wasUsed(stored)
  const standing = isUsed ? 'used' : 'delegated'
  if (isProven(stored)) return standing
  const { chain, trader } = stored
  const isShown = proof !== 'seen' || (await isKnownTrader(sql, chain, trader))
  if (isShown && (await mayBeProven(sql, stored))) return standing
  return isUsed ? 'seen' : stored.standing
}

/**
 * Ends the claim of a key that is used when its trader is known, and keeps the timestamp of its struct for ever. Renews
 * the claim otherwise, and returns false.
 */
export async function proveKey(sql: Sql, key: ApiKeyRecord, nowMs: number): Promise<boolean> {
  const { chain, trader, signedAtMs, createdAtMs } = key
  if (!(await isKnownTrader(sql, chain, trader))) {
    await renewClaim(sql, claimOfKey(key), nowMs)
    return false
  }
  const claim = await removeClaim(sql, claimOfKey(key))
  const cause = { ...claim?.untold, nowMs: createdAtMs }
  if (claim !== undefined) await tellKeyIssued(sql, { key, isReplacing: false }, cause)
  await noteSignedAt(sql, { chain, agent: '', trader }, { signedAtMs, isKept: true, nowMs })
  return true
}

export function claimOfKey({ chain, trader, label }: Pick<ApiKeyRecord, 'chain' | 'trader' | 'label'>): ClaimKey {
  return { chain, agent: '', trader, label }
}
