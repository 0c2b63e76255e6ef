import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { SigningDomain } from '@bezel/protocol'
import { call, UNLIMITED_SCOPE } from '@bezel/testkit/agentClient.ts'
import { lastingPort } from '@bezel/testkit/lastingPort.ts'
import { createChainClient, type ChainClient } from '@bezel/testkit/chainClient.ts'
import { startDevnet, type RunningDevnet } from '@bezel/testkit/startDevnet.ts'
import { authorize } from '@bezel/testkit/tradingClient.ts'
import { runAgentLoop } from './agentLoop.ts'
import { createCampaignClient, type CampaignClient } from './campaignClient.ts'
import { readChainTruth } from './chainTruth.ts'
import { problemsOfAnswers, readTrades } from './checkAnswers.ts'
import { problemsOfStore } from './checkStore.ts'
import { createJournal, type Journal } from './journal.ts'
import { agentLife } from './agentLife.ts'
import { killAgainAndAgain, type KillerOptions, type Life } from './killer.ts'
import { createKillableService, type KillableService } from './killableService.ts'
import { quiesce } from './quiesce.ts'
import { createSeededRandom } from '@bezel/testkit/seededRandom.ts'
import { readCampaign, readStore, type ListRows, type StoredCampaign } from './storedOrders.ts'
import { createWallet } from './wallet.ts'

type Stage = KillerOptions & { readonly journal: Journal; readonly database: CampaignDatabase | undefined }

export interface CampaignOptions extends Pick<KillerOptions, 'kills' | 'maxSeconds'> {
  readonly seed: number
  /** The database that the service stores in; absent for SQLite. Blocks are replaced during such a campaign. */
  readonly database?: CampaignDatabase
}

/** A database that is restarted during a campaign. */
export interface CampaignDatabase {
  readonly url: string
  /** The number of restarts, spread over the lives of the service. */
  readonly restarts: number
  restart(): Promise<void>
  readonly listRows: ListRows
}

/** The result of a campaign. Everything was right when there are no problems. */
export interface CampaignReport {
  readonly problems: readonly string[]
  readonly counts: ReadonlyMap<string, number>
}

/** The trading accounts, each a trader and its agent. The third trader is its own agent. */
const PAIRS = [
  ['trader-1', 'agent-1'],
  ['trader-2', 'agent-2'],
  ['trader-3', 'trader-3'],
  ['trader-4', 'agent-4'],
] as const
/** The number of parallel loops of one agent. */
const LOOPS = 4
/** The spending cap of the last agent, low enough that some of its orders are refused in any campaign. */
const CAP_USD_PER_KILL = 400
const CAP_USD = 5_000
/** Time for the last answers to agree with the chain once nothing changes any more. */
const CONVERGE_MS = 30_000
const CONVERGE_POLL_MS = 250

const MAX_REORG_BLOCKS = 5

const CHAIN_SETTINGS = { DEVNET_BLOCK_MS: '100', DEVNET_ORACLE_DELAY_MS: '150' }
/**
 * Prepared orders live briefly, so that some expire and are prepared again while the service is down. Hashes that were
 * reported and never sent are given up sooner than that.
 */
const SERVICE_SETTINGS = {
  BEZEL_IP_LIMIT: '1000000',
  BEZEL_AGENT_LIMIT: '1000000',
  BEZEL_AGENT_WRITE_LIMIT: '1000000',
  BEZEL_PREPARED_MARKET_MS: '3000',
  BEZEL_PREPARED_RESTING_MS: '6000',
  BEZEL_UNKNOWN_HASH_MS: '1000',
}

/**
 * Lets agents trade while the service is killed `kills` times, then compares its state with the chain and with its own
 * answers.
 */
export async function runCampaign(of: CampaignOptions): Promise<CampaignReport> {
  const devnet = await startDevnet(CHAIN_SETTINGS)
  const service = createKillableService(await lastingPort(), {
    ...SERVICE_SETTINGS,
    BEZEL_DATA: devnet.folder,
    ...(of.database !== undefined && { DATABASE_URL: of.database.url }),
    // Starting the service costs most here, so its compiled code is cached.
    NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? join(devnet.folder, 'compiled'),
  })
  try {
    return await runOver(devnet, service, of)
  } finally {
    await service.close()
    await devnet.stop()
  }
}

async function runOver(
  devnet: RunningDevnet,
  service: KillableService,
  { seed, kills, maxSeconds, database }: CampaignOptions,
): Promise<CampaignReport> {
  const chain = createChainClient(devnet.file)
  const random = createSeededRandom(seed)
  const journal = createJournal(Date.now())
  await chain.control('bezel_freezePrice', 'BTC/USD', true)
  await chain.control('bezel_setPrice', 'BTC/USD', '60000')
  service.start()
  await service.once('ready')
  const stage = { chain, service, journal, random, kills, maxSeconds, database }
  const clients = await authorizeAll(stage)
  // The compile cache is written only at a regular exit.
  await service.stop()
  service.start()
  await trade(stage, clients)
  await quiesce(chain, clients, journal)
  const answers = await converge({ chain, journal, clients })
  await service.stop()
  const stored = await (database === undefined
    ? readStore(join(devnet.folder, 'bezel.db'))
    : readCampaign(database.listRows))
  const truth = await readChainTruth(chain)
  countOrders(journal, stored)
  const onDisk = [...problemsOfStore(stored, truth), ...(await problemsOfIndexes(chain, clients, stored))]
  const isAnnounced = (line: string): boolean => database !== undefined && /StoreUnavailableError/.test(line)
  const complaints = service.complaints
    .filter((line) => !isAnnounced(line))
    .map((line) => `the service complained: ${line}`)
  const problems = [...journal.problems, ...answers, ...onDisk, ...complaints]
  return { problems: problems.map((problem) => withStory(journal, problem)), counts: journal.counts }
}

/** Adds the events of the order to a problem. */
function withStory(journal: Journal, problem: string): string {
  const id = /^order (\d+) /.exec(problem)?.[1]
  return id === undefined ? problem : `${problem}\n    ${journal.storyOf(id)}`
}

async function authorizeAll({ chain, service, journal, random, kills }: Stage): Promise<CampaignClient[]> {
  const { url } = service
  const domain = (await call(url, '/v1/arbitrum-sepolia')).body.signing.domain as SigningDomain
  const clients: CampaignClient[] = []
  for (const [traderName, agentName] of PAIRS) {
    const trader = chain.account(traderName)
    const agent = chain.account(agentName)
    const isCapped = clients.length === PAIRS.length - 1
    const dailySpendCapUsd = isCapped ? String(CAP_USD + kills * CAP_USD_PER_KILL) : null
    await authorize({ chain, url: () => url }, trader, agent, { ...UNLIMITED_SCOPE, dailySpendCapUsd })
    const stream = random.stream(`client of ${traderName}`)
    clients.push(createCampaignClient({ service, journal, domain, trader, agent, random: stream }))
  }
  return clients
}

/** Trades until the killer has finished and every loop has completed its current work. */
async function trade(stage: Stage, clients: readonly CampaignClient[]): Promise<void> {
  const { chain, journal, random } = stage
  let isOver = false
  const loops = clients.flatMap((client, place) => {
    const wallet = createWallet(chain, client.agent)
    return Array.from({ length: LOOPS }, (_, loop) => {
      const name = `${PAIRS[place]![0]}-${loop}`
      return runAgentLoop({ name, client, wallet, journal, random: random.stream(name), isOver: () => isOver })
    })
  })
  const killer = { ...stage, random: random.stream('killer') }
  const { database } = stage
  const life = agentLife(killer)
  const killing =
    database === undefined ? killAgainAndAgain(killer, life) : killBothAgainAndAgain({ ...killer, database }, life)
  try {
    // The first loop that fails ends the campaign; otherwise the killer does.
    await Promise.race([killing, Promise.all(loops)])
  } finally {
    isOver = true
  }
  await Promise.all(loops)
}

/** Kills the service, restarts its database in some of its lives, and replaces blocks. */
async function killBothAgainAndAgain(
  { database, ...killer }: Stage & { readonly database: CampaignDatabase },
  life: Life,
): Promise<void> {
  const { chain, journal, random, kills } = killer
  const livesPerRestart = Math.max(1, Math.floor(kills / (2 * database.restarts)))
  let [lives, restarts] = [0, 0]

  async function restart(): Promise<void> {
    restarts += 1
    await database.restart()
    journal.count('restarts of the database')
  }

  await killAgainAndAgain(killer, {
    ...life,
    async live() {
      lives += 1
      await life.live()
      await chain.control('bezel_reorg', 1 + random.below(MAX_REORG_BLOCKS), 'remine')
      journal.count('reorganisations')
      if (restarts < database.restarts && lives % livesPerRestart === 0) await restart()
      await life.live()
    },
  })
  while (restarts < database.restarts) await restart()
}

/**
 * Compares the final answers with the chain. They have some time to agree, because the follower may be a block behind.
 */
async function converge(of: Parameters<typeof problemsOfAnswers>[0]): Promise<string[]> {
  for (const deadlineMs = Date.now() + CONVERGE_MS; ; await sleep(CONVERGE_POLL_MS)) {
    const problems = await problemsOfAnswers(of, await readChainTruth(of.chain))
    if (problems.length === 0 || Date.now() > deadlineMs) return problems
  }
}

/** Checks that the open trades in the store are those on the chain, by their indexes. */
async function problemsOfIndexes(
  chain: ChainClient,
  clients: readonly CampaignClient[],
  { openPositions }: StoredCampaign,
): Promise<string[]> {
  const problems: string[] = []
  for (const { trader } of clients) {
    const held = (await readTrades(chain, trader.address)).filter(({ tradeType }) => tradeType === 0)
    const onChain = held.map(({ index }) => index).toSorted((a, b) => a - b)
    const stored = openPositions
      .filter((position) => position.trader === trader.address)
      .map(({ tradeIndex }) => tradeIndex)
      .toSorted((a, b) => a - b)
    if (stored.join() !== onChain.join()) problems.push(`${trader.address} has trades ${onChain}, the store ${stored}`)
  }
  return problems
}

function countOrders({ counts, orders }: Journal, stored: StoredCampaign): void {
  counts.set('orders acknowledged', orders.size)
  counts.set('orders stored', stored.orders.length)
  for (const { status, agent, reason } of stored.orders) {
    const name = `orders ${agent === null ? 'found on the chain ' : ''}${status} ${reason ?? ''}`.trimEnd()
    counts.set(name, (counts.get(name) ?? 0) + 1)
  }
}
