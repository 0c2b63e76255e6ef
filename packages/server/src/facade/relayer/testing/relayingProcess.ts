import { parseBlock, resultOf } from '../../../chain/blocks.ts'
import { depthFinality } from '../../../chain/finality.ts'
import { createRpcClient } from '../../../chain/providers/provider.ts'
import type { ServedChain } from '../../../chain/servedChain.ts'
import type { Attempt } from '../../../trading/orders/orderModel.ts'
import type { Address, Hex } from '@bezel/protocol'
import { readRelayerKey } from '../readRelayerKey.ts'
import { defaultRelayerSettings } from '../relayerSettings.ts'
import { startRelayer } from '../startRelayer.ts'
import { TEST_SCOPE } from '../../../store/testing/testScope.ts'
import { openTestAddress } from '../../../store/testing/testStore.ts'

// A relayer in a process of its own, which a test can kill at any time. It enqueues the attempts that it is sent and
// reports which are committed.

/** The options that the test starts the process with. */
export interface RelayingProcessOptions {
  readonly chain: ServedChain
  /** The address of the test store. */
  readonly address: string
  readonly key: string
}

const options = JSON.parse(process.argv[2]!) as RelayingProcessOptions
const { chain, address } = options
const client = createRpcClient({ ...chain.rpcUrls[0]!, timeoutMs: 5_000, chainId: chain.chainId })
const store = openTestAddress(address)
const key = await readRelayerKey({ hex: options.key, file: undefined })
let head: { readonly number: number; readonly hash: Hex } | undefined
const relayer = await startRelayer({
  chain,
  client,
  store,
  key: key!,
  settings: { ...defaultRelayerSettings(chain.slug), pollMs: 20, feesMs: 200 },
  now: Date.now,
  log: { info: () => undefined, warn: () => undefined, error: console.error } as never,
  head: () => head,
  finality: depthFinality(8),
})
setInterval(() => void followHead(), 20)

async function followHead(): Promise<void> {
  const [outcome] = await client.batch([{ method: 'eth_getBlockByNumber', params: ['latest', false] }])
  head = parseBlock(resultOf(outcome))?.block
}

process.on('message', (of: { attempt: Attempt; trader: Address }) => void relay(of))

async function relay(of: { attempt: Attempt; trader: Address }): Promise<void> {
  try {
    const { hash } = await store.transaction(TEST_SCOPE, (sql) =>
      relayer.enqueue(sql, { ...of, agent: of.trader, purpose: { kind: 'other' } }),
    )
    process.send?.({ committed: of.attempt.id })
    await relayer.broadcast(hash)
  } catch {
    process.send?.({ refused: of.attempt.id })
  }
}

while (relayer.health().problem !== null) await new Promise((resolve) => setTimeout(resolve, 10))
process.send?.({ ready: true })
