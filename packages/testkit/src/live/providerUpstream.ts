import { jsonFieldsOf, quantityOf, refuseWith, type StandInAnswer, type StandInCall } from './providerRpc.ts'

/** The real node behind a stand-in provider. */
export interface StandInUpstream {
  /** Sends the calls in one batch. Returns the answers in the order of the calls, with the ids of the calls. */
  answer(calls: readonly StandInCall[]): Promise<StandInAnswer[]>
  /** Returns the result of one call. Throws when the node refuses it. */
  ask(method: string, params: readonly unknown[]): Promise<unknown>
  /** Returns the number of the newest block. */
  head(): Promise<number>
}

/** JSON-RPC code of an error of the node itself. */
const INTERNAL_ERROR = -32603

export function createStandInUpstream(url: string): StandInUpstream {
  async function answer(calls: readonly StandInCall[]): Promise<StandInAnswer[]> {
    if (calls.length === 0) return []
    const body = calls.map(({ method, params }, id) => ({ jsonrpc: '2.0', id, method, params }))
    const headers = { 'content-type': 'application/json' }
    const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
    const entries: unknown = await response.json()
    const byId = new Map(
      (Array.isArray(entries) ? entries : []).map((entry) => [jsonFieldsOf(entry).id, entry as unknown]),
    )
    return calls.map((call, at) => {
      const entry = byId.get(at)
      if (entry === undefined) return refuseWith(call, INTERNAL_ERROR, 'the node left this call unanswered')
      return { ...(entry as StandInAnswer), id: call.id }
    })
  }

  async function ask(method: string, params: readonly unknown[]): Promise<unknown> {
    const [answered] = await answer([{ id: 0, method, params }])
    if (answered?.error !== undefined) throw new Error(`the node refused ${method}: ${answered.error.message}`)
    return answered?.result
  }

  return {
    answer,
    ask,
    async head() {
      const head = quantityOf(await ask('eth_blockNumber', []))
      if (head === undefined) throw new Error('the node does not tell its newest block')
      return head
    },
  }
}
