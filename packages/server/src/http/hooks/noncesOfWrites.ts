import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { nonceReused, type SignedNonce } from '../../access/admission.ts'
import { errorPayload, refusalOf } from '../../access/answerError.ts'
import type { StoredNonces } from '../../access/nonces.ts'
import type { Transaction } from '../../store/sql.ts'

/** Uses up the nonce of each request whose own transaction has not done so. */
const unused = new WeakMap<FastifyRequest, () => Promise<boolean>>()

/**
 * Returns the claim that a write makes in its transaction. Where several nodes share the store, the nonce of a write
 * that is refused is used up when its answer is sent, because the node that is asked next does not remember it.
 */
export function claimOfWrite(
  request: FastifyRequest,
  nonces: StoredNonces,
  signed: SignedNonce,
): (sql: Transaction) => Promise<boolean> {
  const { chain, agent, nonce, timestampMs } = signed
  const claim = (sql: Transaction): Promise<boolean> => nonces.storeClaim(sql, chain, agent, nonce, timestampMs)
  if (nonces.useUp === undefined) return claim
  unused.set(request, () => nonces.useUp!(signed))
  return async (sql) => {
    const isFree = await claim(sql)
    // One that was used before stays used.
    if (isFree) sql.afterCommit(() => void unused.delete(request))
    else unused.delete(request)
    return isFree
  }
}

/**
 * Uses up the nonce of a write before its answer is sent, unless its transaction did so. The answer to a request that
 * was answered before becomes `NONCE_REUSED`, and one that can't be noted becomes that the store is unavailable.
 */
export async function useUpNonces(request: FastifyRequest, reply: FastifyReply, payload: unknown): Promise<unknown> {
  const useUp = unused.get(request)
  if (useUp === undefined) return payload
  unused.delete(request)
  try {
    // A fault is told as it is: the transaction whose answer was lost may have used up the nonce.
    if ((await useUp()) || reply.statusCode >= 500) return payload
    return errorPayload(nonceReused(), request, reply)
  } catch (error) {
    // An answer that is being sent can't be made an error by throwing one.
    return errorPayload(refusalOf(error as FastifyError, request), request, reply)
  }
}
