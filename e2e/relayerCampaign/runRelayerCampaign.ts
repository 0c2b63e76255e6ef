import { join } from 'node:path'
import { createChainClient } from '@bezel/testkit/chainClient.ts'
import { lastingPort } from '@bezel/testkit/lastingPort.ts'
import { createSeededRandom } from '@bezel/testkit/seededRandom.ts'
import { startDevnet, type RunningDevnet } from '@bezel/testkit/startDevnet.ts'
import { createKillableService, type KillableService } from '../campaign/killableService.ts'
import { killAgainAndAgain } from '../campaign/killer.ts'
import type { CampaignOptions, CampaignReport } from '../campaign/runCampaign.ts'
import { rowsOfFile } from '../campaign/storedOrders.ts'
import {
  judgeRelayedLoad,
  keyOf,
  openRelayedLoad,
  runRelayedLoad,
  settleRelayedLoad,
  type LoadTrader,
  type RelayedLoad,
} from './relayedLoad.ts'
import { traderLife } from './traderLife.ts'

const TRADERS: readonly LoadTrader[] = [
  ['trader-1', 'agent-1', true],
  ['trader-2', 'agent-2', false],
  ['trader-3', 'agent-3', true],
]

const CHAIN_SETTINGS = { DEVNET_BLOCK_MS: '100', DEVNET_ORACLE_DELAY_MS: '150' }
const SERVICE_SETTINGS = {
  BEZEL_IP_LIMIT: '1000000',
  BEZEL_AGENT_LIMIT: '1000000',
  BEZEL_AGENT_WRITE_LIMIT: '1000000',
}

/**
 * Lets traders trade through the facade while the service is killed `kills` times, then compares its state and its
 * answers with the chain.
 */
export async function runRelayerCampaign(of: CampaignOptions): Promise<CampaignReport> {
  const devnet = await startDevnet(CHAIN_SETTINGS)
  const service = createKillableService(await lastingPort(), {
    ...SERVICE_SETTINGS,
    BEZEL_DATA: devnet.folder,
    BEZEL_RELAYER_KEY: keyOf(devnet, 'relayer'),
    // Starting the service costs most here, so its compiled code is cached.
    NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? join(devnet.folder, 'compiled'),
  })
  try {
    const load = await open(devnet, service, of)
    await trade(load, of)
    return await judge(load)
  } finally {
    await service.close()
    await devnet.stop()
  }
}

async function open(devnet: RunningDevnet, service: KillableService, of: CampaignOptions): Promise<RelayedLoad> {
  const chain = createChainClient(devnet.file)
  const random = createSeededRandom(of.seed)
  await chain.control('bezel_freezePrice', 'BTC/USD', true)
  await chain.control('bezel_setPrice', 'BTC/USD', '60000')
  service.start()
  await service.once('ready')
  const load = await openRelayedLoad({ devnet, service, chain, random }, TRADERS)
  // More blocks than any later reorganisation removes.
  await chain.control('hardhat_mine', 20)
  // The compile cache is written only at a regular exit.
  await service.stop()
  service.start()
  return load
}

/** Trades until the killer has finished and every loop has completed its current work. */
async function trade(load: RelayedLoad, { kills, maxSeconds }: CampaignOptions): Promise<void> {
  let isOver = false
  const loops = runRelayedLoad(load, () => isOver)
  const killer = { ...load, kills, maxSeconds, random: load.random.stream('killer') }
  const killing = killAgainAndAgain(killer, traderLife(killer))
  try {
    // The first loop that fails ends the campaign; otherwise the killer does.
    await Promise.race([killing, Promise.all(loops)])
  } finally {
    isOver = true
  }
  await Promise.all(loops)
}

async function judge(load: RelayedLoad): Promise<CampaignReport> {
  const { devnet, service, journal } = load
  const listRows = rowsOfFile(join(devnet.folder, 'bezel.db'))
  const shown = await settleRelayedLoad(load, listRows)
  await service.stop()
  const problems = [
    ...shown,
    ...(await judgeRelayedLoad(load, listRows)),
    ...service.complaints.map((line) => `the service complained: ${line}`),
  ]
  return { problems, counts: journal.counts }
}
