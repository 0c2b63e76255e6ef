import type { Hex } from '@bezel/protocol'
import type { Relay, SignedWrite } from '../../orders/signedWrite.ts'
import { setExpiry, setSubmitted } from '../../store/attemptStore.ts'
import type { Sql } from '../../store/sql.ts'
import type { Attempt } from '../../trading/orders/orderModel.ts'
import type { ActionContext } from './exchangeParts.ts'

/** What else is kept in the transaction that makes the write. */
export type AlsoKeep = (sql: Sql, attempt: Attempt) => Promise<void>

export interface Relayed<Result> {
  readonly result: Result
  /** Of the transaction; `null` when there was nothing to send. */
  readonly hash: Hex | null
}

/**
 * A native write whose transaction the relayer sends. The bytes are signed and kept in the transaction of the store that makes the write, so a crash
 * after it loses nothing: the relayer sends what it finds. The first of an envelope's writes uses its nonce up.
 */
export async function relayed<Result>(
  context: Pick<ActionContext, 'parts' | 'agent' | 'expiresAfter' | 'nonce'>,
  work: (write: SignedWrite) => Promise<Result>,
  alsoKeep: AlsoKeep = async () => {},
): Promise<Relayed<Result>> {
  const { parts, agent, expiresAfter, nonce } = context
  const { relayer, now } = parts
  let hash: Hex | null = null
  const relay: Relay = {
    sender: relayer.address,
    async take(sql, attempt) {
      const ending = endingBy(attempt, expiresAfter)
      hash = (await relayer.enqueue(sql, { attempt: ending, trader: agent.trader })).hash
      if (ending !== attempt) await setExpiry(sql, attempt.id, ending.expiresAtMs)
      // From the start it waits for this transaction, as if its agent had reported it.
      await setSubmitted(sql, attempt.id, hash, now())
      await alsoKeep(sql, attempt)
    },
  }
  const result = await work({ agent, claim: async (sql) => nonce === undefined || nonce.claim(sql), relay })
  nonce?.noteKept()
  if (hash !== null) void relayer.broadcast(hash)
  return { result, hash }
}

function endingBy(attempt: Attempt, expiresAfter: number | null): Attempt {
  if (expiresAfter === null || expiresAfter >= attempt.expiresAtMs) return attempt
  return { ...attempt, expiresAtMs: expiresAfter }
}
