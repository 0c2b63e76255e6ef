import { ApiError, type ChainSlug } from '@bezel/protocol'
import type { FastifyRequest } from 'fastify'
import type { SignedWrite } from '../../orders/signedWrite.ts'
import type { SignedOperation } from '../../signatures/signedOperations.ts'
import type { Sql } from '../../store/sql.ts'
import {
  authenticateAgent,
  authenticateKey,
  type AuthenticateOptions,
  type OnCharge,
  type SignedCall,
} from '../../access/authenticateCall.ts'
import { setCaller } from '../../access/caller.ts'
import { rawBody } from '../rawBody.ts'
import { recordLimitAnswer } from '../../access/limitAnswers.ts'
import { readApiKey, readSignatureHeaders } from '../../access/signatureHeaders.ts'

/** The operation a request is for. */
export interface Access {
  readonly chain: ChainSlug
  readonly operation: SignedOperation
}

/** Who sends a private read: an agent by its signature, or a trader by an API key. */
export async function authenticateRead(
  request: FastifyRequest,
  access: Access,
  options: AuthenticateOptions,
): Promise<void> {
  const headers = readSignatureHeaders(request.headers, options.headerPrefix)
  if (headers === undefined) return authenticateByKey(request, access.chain, options)
  const agent = await authenticateAgent(callOf(request, access), headers, options, recorderOf(request))
  setCaller(request, { via: 'agent', trader: agent.trader, agent })
}

/** Who sends a write: an agent, always by its signature. Writes have a limit of their own, beside the agent's. */
export async function authenticateWrite(
  request: FastifyRequest,
  access: Access,
  options: AuthenticateOptions,
  writesLimit: number,
): Promise<SignedWrite> {
  const headers = readSignatureHeaders(request.headers, options.headerPrefix)
  if (headers === undefined) {
    throw new ApiError('UNAUTHENTICATED', 'A write is signed by an agent; an API key can only read.')
  }
  const writes = { scope: 'agent-writes', key: `${access.chain} ${headers.agent}`, limit: writesLimit } as const
  const agent = await authenticateAgent(callOf(request, access), headers, options, recorderOf(request), [writes])
  setCaller(request, { via: 'agent', trader: agent.trader, agent })
  const claim = (sql: Sql): Promise<boolean> =>
    options.nonces.storeClaim(sql, access.chain, agent.agent, headers.nonce, Number(headers.timestamp))
  return { agent, claim, relay: null }
}

async function authenticateByKey(
  request: FastifyRequest,
  chain: ChainSlug,
  options: AuthenticateOptions,
): Promise<void> {
  const { headerPrefix } = options
  const key = readApiKey(request.headers, headerPrefix)
  if (key === undefined) {
    throw new ApiError('UNAUTHENTICATED', `Sign the request, or send a read-only key as ${headerPrefix}Api-Key.`)
  }
  setCaller(request, await authenticateKey(chain, key, options, recorderOf(request)))
}

function callOf(request: FastifyRequest, { chain, operation }: Access): SignedCall {
  const { method = '', url: path = '' } = request.raw
  return { chain, operation, method, path, body: rawBody(request) }
}

/** The headers of the answer tell what was charged, whatever becomes of the request. */
function recorderOf(request: FastifyRequest): OnCharge {
  return (answer) => recordLimitAnswer(request, answer)
}
