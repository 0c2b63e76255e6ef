import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { createChainClient, type ChainClient } from '@bezel/testkit/chainClient.ts'
import { writeProviderChains } from '@bezel/testkit/live/providerChains.ts'
import { startStandInProvider, type StandInProvider } from '@bezel/testkit/live/standInProvider.ts'
import { startDevnet, type RunningDevnet } from '@bezel/testkit/startDevnet.ts'
import { startService, type RunningService } from '@bezel/testkit/startService.ts'
import { until } from '@bezel/testkit/until.ts'
import { openExistingStore } from '../../packages/server/src/store/openStore.ts'
import type { Store } from '../../packages/server/src/store/sql.ts'

const CHAIN = 'arbitrum-sepolia'
const BLOCKS = 40
/** Calls about blocks that may come from something else than the blocks, such as the finality of the chain. */
const OTHER_BLOCK_CALLS = 4

describe('a service that a WebSocket tells of blocks', () => {
  let devnet: RunningDevnet
  let chain: ChainClient
  let provider: StandInProvider
  let service: RunningService
  let store: Store

  before(async () => {
    devnet = await startDevnet({ DEVNET_BLOCK_MS: '60000' })
    chain = createChainClient(devnet.file)
    const target = devnet.file.chains[CHAIN]!.rpcUrl.replace(/\/$/, '')
    provider = await startStandInProvider({ target })
    const folder = join(devnet.folder, 'idle')
    service = await startService(devnet, {
      BEZEL_DATA: folder,
      BEZEL_CHAINS_FILE: writeProviderChains(devnet, [provider], { name: 'idle.json' }),
    })
    store = await openExistingStore(folder)
    await until('the WebSocket is open', () => provider.openSockets() > 0)
    await mine()
  })
  after(async () => {
    await store?.close()
    await service?.stop()
    await provider?.close()
    await devnet?.stop()
  })

  /** Mines a block, and waits until the service has followed it. */
  async function mine(): Promise<void> {
    await chain.control('evm_mine')
    const { hash } = await chain.client.getBlock()
    await until('the block is followed', async () => {
      const text = 'select hash from blocks where chain = $1 order by number desc limit 1'
      return (await store.read.get<{ hash: string }>(text, CHAIN))?.hash === hash
    })
  }

  it('asks for nothing when a block is empty', async () => {
    provider.resetCounts()
    for (let block = 0; block < BLOCKS; block += 1) await mine()
    const { byMethod, pushes } = provider.counts()
    const ofBlocks = ['eth_getBlockByNumber', 'eth_getBlockByHash', 'eth_getLogs', 'eth_blockNumber']
    const calls = ofBlocks.reduce((sum, method) => sum + (byMethod[method] ?? 0), 0)
    assert.ok(calls <= OTHER_BLOCK_CALLS, `${calls} calls for ${BLOCKS} empty blocks: ${JSON.stringify(byMethod)}`)
    assert.ok(pushes >= BLOCKS, `${pushes} messages`)
  })
})
