import { call, type Answer } from '@bezel/testkit/agentClient.ts'
import { signL1 } from '@bezel/testkit/signEnvelope.ts'
import type { RunningDevnet } from '@bezel/testkit/startDevnet.ts'
import type { RunningService } from '@bezel/testkit/startService.ts'

/** Places a limit order that rests, in the way of the facade: the relayer sends it. */
export function placeRelayed({ file }: RunningDevnet, node: RunningService, trader: string): Promise<Answer> {
  const order = { a: 0, b: true, p: '50000', s: '0.02', r: false, t: { limit: { tif: 'Gtc' } } }
  const key = file.accounts.find(({ name }) => name === trader)!.privateKey
  const action = { type: 'order', orders: [order], grouping: 'na' }
  const { expiresAfter: _none, ...envelope } = signL1(key, { action, nonce: Date.now() })
  const headers = { 'content-type': 'application/json' }
  return call(node.url, '/hl/arbitrum-sepolia/exchange', { method: 'POST', headers, body: JSON.stringify(envelope) })
}
