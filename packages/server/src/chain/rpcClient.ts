import { NodeUnavailableError } from '../ground/unavailable.ts'
import { parseRpcAnswer } from './rpcAnswer.ts'
import { type RpcOutcome } from './rpcOutcome.ts'

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
  /**
   * The chain that the node must be on. Asked with every batch, because an address can lead to another node from one moment to the next, and what
   * that one says of its own chain looks right in all else. Left out: whatever chain it is.
   */
  readonly chainId?: number
}

const CHAIN_ID_CALL: RpcCall = { method: 'eth_chainId', params: [] }

export function createRpcClient({ url, timeoutMs, chainId }: RpcClientOptions): RpcClient {
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
      const asked = chainId === undefined ? calls : [...calls, CHAIN_ID_CALL]
      const body = JSON.stringify(asked.map(({ method, params }, id) => ({ jsonrpc: '2.0', id, method, params })))
      const outcomes = parseRpcAnswer(await post(body), asked.length)
      if (chainId !== undefined) requireChain(outcomes.pop(), chainId)
      return outcomes
    },
  }
}

function requireChain(outcome: RpcOutcome | undefined, chainId: number): void {
  if (outcome?.ok === true && outcome.result === `0x${chainId.toString(16)}`) return
  throw new NodeUnavailableError('the node is on another chain, or does not say on which')
}
