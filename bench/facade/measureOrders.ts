import type { Address, PreparedOrder } from '@bezel/protocol'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { createChainClient, type ChainClient } from '@bezel/testkit/chainClient.ts'
import { startDevnet, type RunningDevnet } from '@bezel/testkit/startDevnet.ts'
import { createRpcClient } from '../../packages/server/src/chain/providers/provider.ts'
import { openBenchAgent } from '../client/benchAgent.ts'
import { median } from '../measure/median.ts'
import { timed } from '../measure/timed.ts'
import { openFloor, type Floor } from '../prepare/floor.ts'
import { startFacadeService } from './startFacadeService.ts'
import { openFacadeTrader, type FacadeTrader } from './facadeTrader.ts'
import { watchBroadcasts, type BroadcastWatch } from './watchBroadcasts.ts'

const CHAIN = 'arbitrum-sepolia'
const ROUNDS = 10
const ORDERS_PER_ROUND = 10
/** Limit: the time from envelope to node may exceed the sum of its parts by this much. */
const LIMIT_MS = 3
/**
 * Block interval longer than the benchmark, which mines by itself: the service's work for a block is measured
 * elsewhere.
 */
const QUIET_CHAIN = { DEVNET_BLOCK_MS: '60000' }
const NATIVE = { market: 'BTC/USD', side: 'long', type: 'limit', price: '40000', size: '0.01', leverage: '10' }
const PX = '40000'
const FOLLOWED_MS = 40

type Times = Record<'ours' | 'roundTrip' | 'commit' | 'recover' | 'broadcast', number[]>

interface Parts extends Floor {
  broadcast(): Promise<void>
}

/**
 * Times orders from the first byte of the envelope until the node has the transaction, beside the unavoidable parts of
 * that time. Returns true when the limit is met.
 */
export async function measureOrders(): Promise<boolean> {
  const devnet = await startDevnet(QUIET_CHAIN)
  const service = await startFacadeService(devnet)
  const chain = createChainClient(devnet.file)
  const mining = setInterval(() => void chain.control('evm_mine').catch(() => undefined), 50)
  const native = await openBenchAgent({ devnet, chain, url: service.url }, 2)
  const trader = await openFacadeTrader({ devnet, chain, url: service.url }, 1)
  clearInterval(mining)
  const { body } = await native.ask({ operation: 'createOrder', method: 'POST', path: '/orders', body: NATIVE })
  const parts = await openParts(devnet, native, body as PreparedOrder)
  const watch = watchBroadcasts()
  const times = await measure({ chain, trader, parts, watch })
  watch.close()
  await parts.close()
  native.close()
  trader.close()
  await service.close()
  await devnet.stop()
  return print(times)
}

async function openParts(
  devnet: RunningDevnet,
  native: { readonly trader: Address; readonly agent: Address },
  prepared: PreparedOrder,
): Promise<Parts> {
  const { rpcUrl, chainId, diamond, collaterals } = devnet.file.chains[CHAIN]!
  const collateral = collaterals.find(({ symbol }) => symbol === 'USDC')!
  const { trader, agent } = native
  const floor = await openFloor({
    rpcUrl,
    chainId,
    diamond: diamond as Address,
    collateral,
    trader,
    agent,
    prepared,
  })
  const sender = privateKeyToAccount(devnet.file.accounts.find(({ name }) => name === 'agent-5')!.privateKey)
  const client = createRpcClient({ url: rpcUrl, timeoutMs: 5_000, chainId })
  const data = prepared.transaction!.data as Hex
  let nonce = 0
  let raw: Hex = await sign(0)

  /** Signs a transaction with as many bytes as a relayed one. Its effect on the chain does not matter. */
  function sign(at: number): Promise<Hex> {
    const fees = { maxFeePerGas: 20_000_000n, maxPriorityFeePerGas: 1n }
    return sender.signTransaction({ type: 'eip1559', chainId, nonce: at, to: diamond, data, gas: 900_000n, ...fees })
  }

  return {
    ...floor,
    async broadcast() {
      const [outcome] = await client.batch([{ method: 'eth_sendRawTransaction', params: [raw] }])
      if (outcome?.ok !== true) throw new Error(`the node refused a transaction: ${JSON.stringify(outcome)}`)
      nonce += 1
      raw = await sign(nonce)
    },
  }
}

async function measure(of: {
  readonly chain: ChainClient
  readonly trader: FacadeTrader
  readonly parts: Parts
  readonly watch: BroadcastWatch
}): Promise<Times> {
  const { chain, trader, parts, watch } = of
  const times: Times = { ours: [], roundTrip: [], commit: [], recover: [], broadcast: [] }
  // Round 0 only warms up.
  for (let round = 0; round <= ROUNDS; round += 1) {
    const here: Times = { ours: [], roundTrip: [], commit: [], recover: [], broadcast: [] }
    for (let at = 0; at < ORDERS_PER_ROUND; at += 1) {
      // The second request finds the node warm, so the two alternate in coming first.
      if (at % 2 === 0) here.roundTrip.push(await timed(parts.roundTrip))
      const { startedMs, txHash } = await trader.place('0.01', PX)
      here.ours.push((await watch.taken(txHash)) - startedMs)
      await clear(chain)
      if (at % 2 === 1) here.roundTrip.push(await timed(parts.roundTrip))
      here.broadcast.push(await timed(parts.broadcast))
      here.commit.push(await timed(parts.commit))
      here.recover.push(await timed(parts.recover))
      await clear(chain)
    }
    if (round === 0) continue
    for (const name of Object.keys(times) as (keyof Times)[]) times[name].push(...here[name])
  }
  return times
}

/**
 * Mines the pending transactions, which would slow the node down, and waits until the service has followed the block.
 */
async function clear(chain: ChainClient): Promise<void> {
  await chain.control('evm_mine')
  await sleep(FOLLOWED_MS)
}

function print(times: Times): boolean {
  const of = (name: keyof Times): number => median(times[name])
  const sum = of('roundTrip') + of('commit') + of('recover') + of('broadcast')
  const difference = of('ours') - sum
  const ms = (value: number): string => value.toFixed(2)
  console.log(`/exchange order from the envelope until the node has it, ${times.ours.length} orders, medians`)
  console.table({
    'an order': { ms: ms(of('ours')) },
    'one round trip': { ms: ms(of('roundTrip')) },
    'one durable commit': { ms: ms(of('commit')) },
    'one recover': { ms: ms(of('recover')) },
    'one broadcast': { ms: ms(of('broadcast')) },
    'an order less these four': { ms: ms(difference), limit: LIMIT_MS, met: difference <= LIMIT_MS },
  })
  return difference <= LIMIT_MS
}
