import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { SigningDomain } from '@bezel/protocol'
import { call, UNLIMITED_SCOPE } from '@bezel/testkit/agentClient.ts'
import { lastingPort } from '@bezel/testkit/lastingPort.ts'
import { createChainClient, type ChainClient } from '@bezel/testkit/chainClient.ts'
import { startDevnet, type RunningDevnet } from '@bezel/testkit/startDevnet.ts'
import { authorize } from '@bezel/testkit/tradingClient.ts'
import { PATIENCE_MS } from '@bezel/testkit/until.ts'
import { runAgentLoop } from './agentLoop.ts'
import { createCampaignClient, type CampaignClient } from './campaignClient.ts'
import { readChainTruth } from './chainTruth.ts'
import { problemsOfAnswers, readTrades } from './checkAnswers.ts'
import { problemsOfStore } from './checkStore.ts'
import { createJournal, type Journal } from './journal.ts'
import { agentLife } from './agentLife.ts'
import { killAgainAndAgain, type KillerOptions, type Life } from './killer.ts'
import { createKillableService, pollUntil, type KillableService } from './killableService.ts'
import { quiesce } from './quiesce.ts'
import { createSeededRandom } from '@bezel/testkit/seededRandom.ts'
import { readCampaign, rowsOfFile, type ListRows, type StoredCampaign } from './storedOrders.ts'
import { createWallet } from './wallet.ts'

type Stage = KillerOptions & {
  readonly journal: Journal
  readonly database: CampaignDatabase | undefined
  readonly pairs: readonly Pair[]
  readonly loops: number
}

/** A trader and its agent. */
export type Pair = readonly [trader: string, agent: string]

export interface CampaignOptions extends Pick<KillerOptions, 'kills' | 'maxSeconds'> {
  readonly seed: number
  /** The database that the service stores in; absent for SQLite. Blocks are replaced during such a campaign. */
  readonly database?: CampaignDatabase
  /** Creates the service with these settings. Default: one process. */
  readonly createService?: (
    devnet: RunningDevnet,
    settings: Readonly<Record<string, string>>,
  ) => Promise<KillableService>
  /** The trading accounts, of which the last has a cap. Default: four. */
  readonly pairs?: readonly Pair[]
  /** The number of parallel loops of one agent. Default 4. */
  readonly loops?: number
  /** Starts other work beside the agents, once the service is ready. */
  readonly openBeside?: (of: Omit<BesideStage, 'journal'>) => Promise<Beside>
  /** Looks at a service and a database that stand still. Returns what is wrong. */
  readonly inspect?: (of: BesideStage) => Promise<string[]>
}

/** The parts that other work and looks at the end are given. */
export interface BesideStage extends Pick<KillerOptions, 'chain' | 'service' | 'random'> {
  readonly devnet: RunningDevnet
  readonly journal: Journal
  /** Clients of all agents at one node. */
  readonly clientsAt: (node: KillableService) => readonly CampaignClient[]
}

/** Work of others than agents. */
export interface Beside {
  readonly counts: ReadonlyMap<string, number>
  run(isOver: () => boolean): readonly Promise<void>[]
  replaySome(): Promise<void>
  /** Waits until nothing changes any more. Returns what is wrong in the answers. */
  settle(): Promise<string[]>
  /** Returns what is wrong once the service has stopped. */
  judge(): Promise<string[]>
}

/** A database to which something happens during a campaign. */
export interface CampaignDatabase {
  readonly url: string
  readonly faults: readonly CampaignFault[]
  readonly listRows: ListRows
}

/** A fault that comes again and again, spread over the lives of the service. */
export interface CampaignFault {
  readonly name: string
  readonly times: number
  happen(): Promise<void>
}

/** The result of a campaign. Everything was right when there are no problems. */
export interface CampaignReport {
  readonly problems: readonly string[]
  readonly counts: ReadonlyMap<string, number>
}

/** The trading accounts, each a trader and its agent. The third trader is its own agent. */
const PAIRS: readonly Pair[] = [
  ['trader-1', 'agent-1'],
  ['trader-2', 'agent-2'],
  ['trader-3', 'trader-3'],
  ['trader-4', 'agent-4'],
]
/** The number of parallel loops of one agent. */
const LOOPS = 4
/** The spending cap of the last agent, low enough that some of its orders are refused in any campaign. */
const CAP_USD_PER_KILL = 400
const CAP_USD = 5_000
/** Time for the last answers to agree with the chain once nothing changes any more. */
const CONVERGE_MS = PATIENCE_MS
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
  const { createService = createOneProcess } = of
  const service = await createService(devnet, {
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

async function createOneProcess(
  _devnet: RunningDevnet,
  settings: Readonly<Record<string, string>>,
): Promise<KillableService> {
  return createKillableService(await lastingPort(), settings)
}

async function runOver(
  devnet: RunningDevnet,
  service: KillableService,
  { seed, kills, maxSeconds, database, pairs = PAIRS, loops = LOOPS, openBeside, inspect }: CampaignOptions,
): Promise<CampaignReport> {
  const chain = createChainClient(devnet.file)
  const random = createSeededRandom(seed)
  const journal = createJournal(Date.now())
  await chain.control('bezel_freezePrice', 'BTC/USD', true)
  await chain.control('bezel_setPrice', 'BTC/USD', '60000')
  service.start()
  await wholeOf(service).once('ready')
  const stage = { chain, service, journal, random, kills, maxSeconds, database, pairs, loops }
  const clients = await authorizeAll(stage)
  const clientsAt = (node: KillableService): CampaignClient[] => clients.map((client) => client.at(node))
  const parts = { devnet, chain, service, random, clientsAt }
  const beside = await openBeside?.(parts)
  if (service.nodes === undefined) {
    // The compile cache is written only at a regular exit.
    await service.stop()
    service.start()
  }
  await trade(stage, clients, beside)
  await quiesce(chain, clients, journal)
  const shown = (await beside?.settle()) ?? []
  const answers = await converge({ chain, journal, clients })
  const looked = (await inspect?.({ ...parts, journal })) ?? []
  await service.stop()
  const listRows = database?.listRows ?? rowsOfFile(join(devnet.folder, 'bezel.db'))
  const stored = await readCampaign(listRows)
  const truth = await readChainTruth(chain)
  countOrders(journal, stored)
  const onDisk = [...problemsOfStore(stored, truth), ...(await problemsOfIndexes(chain, clients, stored))]
  const isAnnounced = (line: string): boolean => database !== undefined && /StoreUnavailableError/.test(line)
  const complaints = service.complaints
    .filter((line) => !isAnnounced(line))
    .map((line) => `the service complained: ${line}`)
  const others = [...shown, ...((await beside?.judge()) ?? []), ...looked]
  const problems = [...journal.problems, ...answers, ...onDisk, ...others, ...complaints]
  for (const [what, count] of beside?.counts ?? []) journal.counts.set(`beside: ${what}`, count)
  return { problems: problems.map((problem) => withStory(journal, problem)), counts: journal.counts }
}

/** Returns a service whose stages are those of all its nodes, as those who end them see it. */
function wholeOf(service: KillableService): KillableService {
  const { nodes } = service
  if (nodes === undefined) return service
  return { ...service, once: (stage) => pollUntil(() => nodes.every((node) => node.hasReached(stage))) }
}

/** Adds the events of the order to a problem. */
function withStory(journal: Journal, problem: string): string {
  const id = /^order (\d+) /.exec(problem)?.[1]
  return id === undefined ? problem : `${problem}\n    ${journal.storyOf(id)}`
}

async function authorizeAll({ chain, service, journal, random, kills, pairs }: Stage): Promise<CampaignClient[]> {
  const { url } = service
  const domain = (await call(url, '/v1/arbitrum-sepolia')).body.signing.domain as SigningDomain
  const clients: CampaignClient[] = []
  for (const [traderName, agentName] of pairs) {
    const trader = chain.account(traderName)
    const agent = chain.account(agentName)
    const isCapped = clients.length === pairs.length - 1
    const dailySpendCapUsd = isCapped ? String(CAP_USD + kills * CAP_USD_PER_KILL) : null
    await authorize({ chain, url: () => url }, trader, agent, { ...UNLIMITED_SCOPE, dailySpendCapUsd })
    const stream = random.stream(`client of ${traderName}`)
    clients.push(createCampaignClient({ service, journal, domain, trader, agent, random: stream }))
  }
  return clients
}

/** Trades until the killer has finished and every loop has completed its current work. */
async function trade(stage: Stage, clients: readonly CampaignClient[], beside: Beside | undefined): Promise<void> {
  const { chain, journal, random, pairs, database } = stage
  let isOver = false
  const loops = clients.flatMap((client, place) => {
    const wallet = createWallet(chain, client.agent)
    return Array.from({ length: stage.loops }, (_, loop) => {
      const name = `${pairs[place]![0]}-${loop}`
      return runAgentLoop({ name, client, wallet, journal, random: random.stream(name), isOver: () => isOver })
    })
  })
  const others = beside?.run(() => isOver) ?? []
  const killer = { ...stage, service: wholeOf(stage.service), random: random.stream('killer') }
  const own = agentLife(killer)
  const life: Life = {
    ...own,
    replaySome: async () => void (await Promise.all([own.replaySome(), beside?.replaySome()])),
  }
  const killing =
    database === undefined ? killAgainAndAgain(killer, life) : killAmongFaults({ ...killer, database }, life)
  try {
    // The first loop that fails ends the campaign; otherwise the killer does.
    await Promise.race([killing, Promise.all([...loops, ...others])])
  } finally {
    isOver = true
  }
  await Promise.all([...loops, ...others])
}

/** Kills the service, lets the faults of its database happen in some of its lives, and replaces blocks. */
async function killAmongFaults(
  { database: { faults }, ...killer }: Stage & { readonly database: CampaignDatabase },
  life: Life,
): Promise<void> {
  const { chain, journal, random, kills } = killer
  const left = new Map(faults.map((fault) => [fault, fault.times]))
  let lives = 0

  async function happen(fault: CampaignFault): Promise<void> {
    left.set(fault, left.get(fault)! - 1)
    await fault.happen()
    journal.count(fault.name)
  }

  await killAgainAndAgain(killer, {
    ...life,
    async live() {
      lives += 1
      await life.live()
      await chain.control('bezel_reorg', 1 + random.below(MAX_REORG_BLOCKS), 'remine')
      journal.count('reorganisations')
      const due = faults.filter((fault) => left.get(fault)! > 0 && lives % livesPer(fault, kills) === 0)
      for (const fault of due) await happen(fault)
      await life.live()
    },
  })
  for (const fault of faults) while (left.get(fault)! > 0) await happen(fault)
}

function livesPer({ times }: CampaignFault, kills: number): number {
  return Math.max(1, Math.floor(kills / (2 * times)))
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
