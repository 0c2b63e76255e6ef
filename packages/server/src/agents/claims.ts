import { ApiError, type Address } from '@bezel/protocol'
import {
  countOtherAgents,
  countOtherClaims,
  deleteAgent,
  holdAgent,
  holdFreeAgent,
  listEndedClaims,
} from '../store/agentStore.ts'
import { deleteApiKey, listApiKeys, noteApiKeyUse, type ApiKeyRecord } from '../store/apiKeyStore.ts'
import { noteSignedAt } from '../store/acceptedStructStore.ts'
import type { AuditOrigin } from '../store/auditStore.ts'
import {
  addClaim,
  findCrowdedClaim,
  holdClaimCount,
  holdClaimRow,
  removeClaim,
  type ClaimKey,
} from '../store/claimStore.ts'
import type { Sql } from '../store/sql.ts'
import { isProven, wasUsed, type AgentRecord } from '../trading/agentRecord.ts'
import { claimOf, noteStructs, proveAgent, proveKey } from './proofs.ts'
import { forgetAgentClaim } from './rightsLog.ts'

/**
 * A registration whose claim ended: deleted because nothing on the chain proved it, or an agent that is proven by now.
 */
export type GoneClaim = AgentRecord | ApiKeyRecord

/**
 * The greatest number of registrations of a deployment that the chain does not prove, agents and API keys together.
 * Anybody can make them, so they are rows of a table of fixed size, and in memory only while they are in use.
 */
export const MAX_CLAIMS = 100_000

/** The greatest number of agents in force per trader and chain, because an account is shown with all of them. */
export const MAX_AGENTS = 50

/**
 * The greatest number of a trader's agents on a chain that the chain does not prove, those that ended too: whatever
 * reads all agents of a trader has a bound.
 */
export const MAX_TRADER_CLAIMS = 200

/** The greatest number of ended claims that one registration drops. */
const DROPPED_AT_ONCE = 50

/**
 * Returns true when a trader who signs for itself can't take over the record of its address: it is its own already, or
 * the address serves another trader by its signature or by what it did.
 */
export function isKeptFrom(record: AgentRecord, signer: Address): boolean {
  return record.trader === signer || record.agentSigned || wasUsed(record)
}

/**
 * Holds a claim. When there are too many, the network that holds the most loses its oldest, so that whoever floods the
 * table loses his own claims first. There may be more while other transactions have all of them in use; the next one
 * makes room for those too. Returns those that had to go.
 */
export async function holdClaim(
  sql: Sql,
  claim: ClaimKey,
  of: {
    readonly network: string
    readonly nowMs: number
    readonly maxClaims: number
    /** The request, if the audit log does not tell of it yet. */
    readonly untold: AuditOrigin | undefined
  },
): Promise<GoneClaim[]> {
  const { network, nowMs, maxClaims, untold } = of
  const gone: GoneClaim[] = []
  // The claim itself is not among those that may go, or its record would stay without one.
  await removeClaim(sql, claim)
  while ((await holdClaimCount(sql)) >= maxClaims) {
    const dropped = await dropCrowdedClaim(sql, nowMs)
    if (dropped === undefined) break
    gone.push(...dropped)
  }
  await addClaim(sql, claim, { network, sinceMs: nowMs, untold })
  return gone
}

/**
 * Drops the oldest claim that nobody else has in use, of the network that holds the most that has one. Returns
 * `undefined` when all are in use.
 */
async function dropCrowdedClaim(sql: Sql, nowMs: number): Promise<GoneClaim[] | undefined> {
  for (let networks = 0; ; networks++) {
    for (let claims = 0; ; claims++) {
      const crowded = await findCrowdedClaim(sql, { networks, claims })
      if (crowded === undefined && claims === 0) return undefined
      if (crowded === undefined) break
      const dropped = await dropClaim(sql, crowded, nowMs)
      if (dropped !== undefined) return dropped
    }
  }
}

/**
 * Drops the trader's claims that ended first when it has too many, to make room for a further one. Returns those that
 * had to go.
 */
export async function dropEndedClaims(sql: Sql, next: AgentRecord, nowMs: number): Promise<GoneClaim[]> {
  const excess = (await countOtherClaims(sql, next)) + 1 - MAX_TRADER_CLAIMS
  if (excess <= 0) return []
  const ended = await listEndedClaims(sql, next, { nowMs, limit: Math.min(excess, DROPPED_AT_ONCE) })
  const claims = ended.map((agent) => claimOf({ chain: next.chain, agent }))
  return dropClaims(sql, claims, nowMs)
}

/**
 * Ends claims that nobody else has in use, and returns their registrations: deleted, unless they were used and the
 * chain knows their trader by now, which proves them.
 */
export async function dropClaims(sql: Sql, claims: readonly ClaimKey[], nowMs: number): Promise<GoneClaim[]> {
  const gone: GoneClaim[] = []
  for (const claim of claims) gone.push(...((await dropClaim(sql, claim, nowMs)) ?? []))
  return gone
}

/**
 * Ends a claim; `undefined` when another transaction has it in use. That one may wait for the count of all claims,
 * which whoever drops claims holds, so it is not waited for.
 */
async function dropClaim(sql: Sql, claim: ClaimKey, nowMs: number): Promise<GoneClaim[] | undefined> {
  const { chain, agent, trader } = claim
  let gone: GoneClaim[] = []
  if (agent !== '') {
    if (!(await holdFreeAgent(sql, chain, agent))) return undefined
    gone = await dropAgent(sql, { chain, agent }, nowMs)
  } else if (trader !== '') {
    if (!(await holdClaimRow(sql, claim))) return undefined
    gone = await dropKeys(sql, { ...claim, trader }, nowMs)
  }
  await removeClaim(sql, claim)
  return gone
}

async function dropAgent(
  sql: Sql,
  { chain, agent }: Pick<AgentRecord, 'chain' | 'agent'>,
  nowMs: number,
): Promise<AgentRecord[]> {
  const record = await holdAgent(sql, chain, agent)
  if (record === undefined) return []
  if (isProven(record)) return [record]
  const proven = record.standing === 'seen' ? await proveAgent(sql, record, 'seen', nowMs) : undefined
  if (proven !== undefined) return [proven]
  await noteStructs(sql, record, nowMs)
  await forgetAgentClaim(sql, record)
  await deleteAgent(sql, chain, agent)
  return [record]
}

async function dropKeys(
  sql: Sql,
  { chain, trader, label }: ClaimKey & { readonly trader: Address },
  nowMs: number,
): Promise<ApiKeyRecord[]> {
  const keys = (await listApiKeys(sql, chain, trader)).filter((key) => key.label === label)
  for (const key of keys) {
    const { signedAtMs, lastUsedAtMs } = key
    if (lastUsedAtMs !== null && (await proveKey(sql, key, nowMs))) {
      await noteApiKeyUse(sql, { ...key, isProven: true }, lastUsedAtMs)
      return []
    }
    await noteSignedAt(sql, { chain, agent: '', trader }, { signedAtMs, isKept: false, nowMs })
  }
  await deleteApiKey(sql, chain, trader, label)
  return keys
}

/**
 * Throws unless the struct is newer than the last accepted one. Structs of the master wallet have no nonce, so their
 * timestamps must grow.
 */
export function refuseReplay(lastSignedAtMs: number, signedAtMs: number): void {
  if (signedAtMs > lastSignedAtMs) return
  throw new ApiError(
    'NONCE_REUSED',
    'A struct with this timestamp or a later one was already accepted: sign a new one.',
  )
}

/**
 * Throws when the trader already has `MAX_AGENTS` agents in force. The limit exists because anybody may register
 * agents.
 */
export async function refuseManyAgents(sql: Sql, next: AgentRecord, nowMs: number): Promise<void> {
  if ((await countOtherAgents(sql, next, nowMs)) < MAX_AGENTS) return
  const message = `This trader has ${MAX_AGENTS} agents on this chain: revoke one before another is registered.`
  throw new ApiError('UNSUPPORTED', message, { limit: MAX_AGENTS })
}
