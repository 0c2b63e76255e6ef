import { parseRpcAnswer, type RpcClient, type RpcOutcome } from '../../packages/server/src/chain/rpcClient.ts'

/** The service's client, which also records when the last answer arrived, before it is parsed. */
export interface TimedClient extends RpcClient {
  answeredAt(): number
}

export function createTimedClient(url: string): TimedClient {
  let roundTrips = 0
  let answeredAt = 0
  return {
    roundTrips: () => roundTrips,
    answeredAt: () => answeredAt,
    async batch(calls) {
      roundTrips += 1
      const body = JSON.stringify(calls.map(({ method, params }, id) => ({ jsonrpc: '2.0', id, method, params })))
      const answer = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
      const text = await answer.text()
      answeredAt = performance.now()
      return parseRpcAnswer(text, calls.length).filter((outcome): outcome is RpcOutcome => outcome !== undefined)
    },
  }
}
