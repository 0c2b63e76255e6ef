import { parseAddress, parseHex, type Hex } from '@bezel/protocol'
import { blockCall, resultOf } from '../../chain/chainCalls.ts'
import { quantity } from '../../chain/chainJson.ts'
import { numberToHex } from 'viem'
import { usedNoncesCall } from './loadEntries.ts'
import type { RelayContext } from './relayContext.ts'

/** How far back is looked: the nonce was open when its entry was made, and that is minutes ago. */
const MAX_BLOCKS_BACK = 16_384

/**
 * The hash of the transaction that used a nonce, in a block up to `final`: a proof that no other transaction of that nonce is ever mined.
 * `undefined` when it can't be found. Throws `NodeUnavailableError`, as when the node has no state of old blocks.
 */
export async function findNonceUser(context: RelayContext, nonce: number, final: number): Promise<Hex | undefined> {
  let used = final
  let open = Infinity
  if ((await usedAt(context, used)) <= nonce) return undefined
  // By growing steps: most nodes have no state of more than the last 128 blocks, and the nonce was mostly used just before.
  for (let step = 1; open > used; step *= 2) {
    const before = Math.max(0, final - step)
    if (used === 0 || step > MAX_BLOCKS_BACK) return undefined
    if ((await usedAt(context, before)) > nonce) used = before
    else open = before
  }
  while (used - open > 1) {
    const middle = (open + used) >> 1
    if ((await usedAt(context, middle)) > nonce) used = middle
    else open = middle
  }
  return hashIn(context, nonce, used)
}

async function usedAt(context: RelayContext, block: number): Promise<number> {
  const [outcome] = await context.client.batch([usedNoncesCall(context, numberToHex(block))])
  return quantity(resultOf(outcome))
}

async function hashIn({ client, sender }: RelayContext, nonce: number, block: number): Promise<Hex | undefined> {
  const [outcome] = await client.batch([blockCall(block, true)])
  const { transactions } = (resultOf(outcome) ?? {}) as { transactions?: unknown }
  for (const transaction of Array.isArray(transactions) ? transactions : []) {
    const { from, nonce: used, hash } = transaction as Readonly<Record<string, unknown>>
    if (typeof from !== 'string' || parseAddress(from) !== sender.sender || quantity(used) !== nonce) continue
    return typeof hash === 'string' ? parseHex(hash) : undefined
  }
  return undefined
}
