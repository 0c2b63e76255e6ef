import { ApiError, type Address } from '@bezel/protocol'
import type { FastifyRequest } from 'fastify'
import { nonceReused } from '../../access/admission.ts'
import { authenticateWallet, type PrivateContext } from '../../access/authenticateCall.ts'
import { callerOf, requireUsable } from '../../access/caller.ts'
import { readNamedTrader, readSignatureHeaders, type SignatureHeaders } from '../../access/signatureHeaders.ts'
import { isKeptFrom } from '../../agents/claims.ts'
import type { SignedOperation } from '../../signatures/verifyRequest.ts'
import type { Transaction } from '../../store/sql.ts'
import type { AgentRecord } from '../../trading/agentRecord.ts'
import { authenticateRead, callOf, chainParam, recorderOf } from './authenticate.ts'
import { claimOfWrite } from './noncesOfWrites.ts'

/** The caller of an operation of the master wallet. */
export interface WalletCall {
  readonly trader: Address
  /** Uses up the request's nonce in the transaction of a write. Throws `NONCE_REUSED`. */
  readonly claim: (sql: Transaction) => Promise<void>
}

const calls = new WeakMap<FastifyRequest, WalletCall>()

/**
 * Returns the hook of an operation that the trader's wallet signs in the headers, with its own address as the agent's.
 * No registration is needed: a stolen agent must not stand between a trader and its keys.
 */
export function requireWallet(context: PrivateContext, operation: SignedOperation) {
  return async (request: FastifyRequest): Promise<void> => {
    await authenticateAsWallet(request, requireHeaders(request, context), context, { operation, isWrite: true })
  }
}

/**
 * Returns the hook of a read that takes the trader's wallet, or an agent of the trader. A signer that is both says by
 * the header of the trader which of the two it means.
 */
export function requireWalletOrAgent(context: PrivateContext, operation: SignedOperation) {
  return async (request: FastifyRequest): Promise<void> => {
    const { authenticate, agentsOf, now } = context
    const signed = requireHeaders(request, context)
    const agents = agentsOf(chainParam(request))
    const { slug } = agents.chain
    const named = readNamedTrader(request.headers, authenticate.headerPrefix)
    const record = await authenticate.registry.findAgent(slug, signed.agent)
    if (record === undefined || isMeantAsWallet(record, named)) {
      return authenticateAsWallet(request, signed, context, { operation, isWrite: false })
    }
    await authenticateRead(request, { chain: slug, operation }, authenticate)
    const caller = callerOf(request)
    await requireUsable(caller, agents, now())
    calls.set(request, { trader: caller.trader, claim: async () => undefined })
  }
}

/**
 * Returns true when an agent's address signs as a wallet of its own. Without the header that is so unless it serves its
 * trader by its signature or by what it did: anybody can claim a wallet as an agent.
 */
function isMeantAsWallet(record: AgentRecord, named: Address | undefined): boolean {
  const { agent, trader } = record
  if (agent === trader || named === agent) return true
  return named !== trader && !isKeptFrom(record, agent)
}

/** Returns the caller that the hook of the route stored for this request. */
export function walletCallOf(request: FastifyRequest): WalletCall {
  const call = calls.get(request)
  if (call === undefined) throw new Error(`${request.method} ${request.url} has no wallet: its route lacks the hook`)
  return call
}

function requireHeaders(request: FastifyRequest, { authenticate }: PrivateContext): SignatureHeaders {
  const signed = readSignatureHeaders(request.headers, authenticate.headerPrefix)
  if (signed !== undefined) return signed
  const message = `Sign the request with the trader's own wallet, with its address as ${authenticate.headerPrefix}Agent.`
  throw new ApiError('UNAUTHENTICATED', message)
}

async function authenticateAsWallet(
  request: FastifyRequest,
  signed: SignatureHeaders,
  { authenticate, agentsOf }: PrivateContext,
  { operation, isWrite }: { readonly operation: SignedOperation; readonly isWrite: boolean },
): Promise<void> {
  const chain = agentsOf(chainParam(request)).chain.slug
  const named = readNamedTrader(request.headers, authenticate.headerPrefix)
  const call = { ...callOf(request, { chain, operation }), isWrite }
  const trader = await authenticateWallet(call, signed, authenticate, recorderOf(request))
  const of = { chain, agent: trader, nonce: signed.nonce, timestampMs: Number(signed.timestamp) }
  const claim = isWrite ? claimOfWrite(request, authenticate.nonces, of) : async () => true
  if (named !== undefined && named !== trader) {
    const message = `The wallet ${trader} signed, and the request names ${named}. Nothing was done.`
    throw new ApiError('TRADER_MISMATCH', message, { trader, named })
  }
  calls.set(request, {
    trader,
    async claim(sql) {
      if (!(await claim(sql))) throw nonceReused()
    },
  })
}
