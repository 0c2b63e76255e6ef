import { parseRpcAnswer } from './rpcAnswer.ts'
import { NodeUnavailableError, type RpcOutcome } from './rpcOutcome.ts'

/** One JSON-RPC call. */
export interface RpcCall {
  readonly method: string
  readonly params: readonly unknown[]
}

/** A chain's node, asked in batches. */
export interface RpcClient {
  /** All calls in one round trip, answered in their order. Throws `NodeUnavailableError` when the node did not answer properly. */
  batch(calls: readonly RpcCall[]): Promise<RpcOutcome[]>
  /** Round trips so far: the budget of the write path is counted, not guessed. */
  roundTrips(): number
}

export interface RpcClientOptions {
  readonly url: string
  readonly timeoutMs: number
}

export function createRpcClient({ url, timeoutMs }: RpcClientOptions): RpcClient {
  let roundTrips = 0

  async function post(body: string): Promise<string> {
    roundTrips += 1
    try {
      const headers = { 'content-type': 'application/json' }
      const answer = await fetch(url, { method: 'POST', headers, body, signal: AbortSignal.timeout(timeoutMs) })
      return await answer.text()
    } catch (error) {
      throw new NodeUnavailableError('the node did not answer', { cause: error })
    }
  }

  return {
    roundTrips: () => roundTrips,
    async batch(calls) {
      if (calls.length === 0) return []
      const body = JSON.stringify(calls.map(({ method, params }, id) => ({ jsonrpc: '2.0', id, method, params })))
      return parseRpcAnswer(await post(body), calls.length)
    },
  }
}
