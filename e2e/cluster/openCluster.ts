import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { SigningDomain } from '@bezel/protocol'
import { createChainClient, type ChainClient } from '@bezel/testkit/chainClient.ts'
import { startFront, type Front } from '@bezel/testkit/cluster/startFront.ts'
import { lastingPort } from '@bezel/testkit/lastingPort.ts'
import { startDevnet, type RunningDevnet } from '@bezel/testkit/startDevnet.ts'
import { startPostgres, type RunningPostgres } from '@bezel/testkit/startPostgres.ts'
import { startRedis, type RunningRedis } from '@bezel/testkit/startRedis.ts'
import { startService, type RunningService } from '@bezel/testkit/startService.ts'
import { domainOf } from '@bezel/testkit/tradingClient.ts'
import { movePrice } from '@bezel/testkit/tradingWorld.ts'
import { installPostgres } from '../../scripts/installPostgres.ts'
import { installRedis } from '../../scripts/installRedis.ts'

/** Settings that lift the limits, because all clients of a test share one address. */
const SETTINGS = {
  BEZEL_IP_LIMIT: '1000000',
  BEZEL_AGENT_LIMIT: '1000000',
  BEZEL_AGENT_WRITE_LIMIT: '1000000',
  BEZEL_DATABASE_CONNECTIONS: '10',
  LOG_LEVEL: 'silent',
}
/** The database of all nodes. */
export const DATABASE = 'cluster'

/** Nodes as processes of their own on one PostgreSQL and one Redis, behind a front, over a local chain. */
export interface Cluster {
  readonly server: RunningPostgres
  readonly redis: RunningRedis
  readonly devnet: RunningDevnet
  readonly chain: ChainClient
  readonly front: Front
  readonly domain: SigningDomain
  readonly size: number
  urlOf(node: number): string
  pidOf(node: number): number
  /** Ends a node as a crash does or as an operator does, and starts it again at its address, ready. */
  restart(node: number, how: 'kill' | 'stop'): Promise<void>
  /** Ends a node without starting it again. */
  end(node: number, how: 'kill' | 'stop'): Promise<void>
  /** Starts a node that has ended, with further settings. */
  start(node: number, settings?: Readonly<Record<string, string>>): Promise<void>
  /** Reads rows of the database, columns separated by `|`. */
  rows(sql: string): Promise<string[]>
  close(): Promise<void>
}

export interface ClusterOptions {
  readonly size: number
  readonly settings?: Readonly<Record<string, string>>
  readonly devnet?: Readonly<Record<string, string>>
  /** The roles of each node. Default: all of them for all. */
  readonly roles?: readonly string[]
  /** True when commits have to reach the disk. Default false. */
  readonly isDurable?: boolean
  /** False for nodes without Redis. Default true. */
  readonly hasRedis?: boolean
}

/** Starts a cluster. Its price stands still at 60,000 USD. */
export async function openCluster(options: ClusterOptions): Promise<Cluster> {
  installPostgres()
  installRedis()
  const open = new AsyncDisposableStack()
  try {
    return await openParts(options, open)
  } catch (error) {
    await open.disposeAsync()
    throw error
  }
}

async function openParts(options: ClusterOptions, open: AsyncDisposableStack): Promise<Cluster> {
  const folder = mkdtempSync(join(tmpdir(), 'bezel-cluster-'))
  open.defer(() => rmSync(folder, { recursive: true, force: true }))
  const [server, redis, devnet] = await Promise.all([
    startPostgres({ isDurable: options.isDurable ?? false }),
    startRedis(),
    startDevnet({ DEVNET_BLOCK_MS: '500', DEVNET_ORACLE_DELAY_MS: '150', ...options.devnet }),
  ])
  open.defer(() => server.remove())
  open.defer(() => redis.remove())
  open.defer(() => devnet.stop())
  const chain = createChainClient(devnet.file)
  await chain.control('bezel_freezePrice', 'BTC/USD', true)
  await chain.control('bezel_setPrice', 'BTC/USD', '60000')
  const shared = {
    ...SETTINGS,
    DATABASE_URL: await server.createDatabase(DATABASE),
    BEZEL_CHAINS_FILE: join(devnet.folder, 'devnet.json'),
    ...(options.hasRedis !== false && { REDIS_URL: redis.urlOf() }),
    ...options.settings,
  }
  const places = await listPlaces(options, folder)
  const nodes: RunningService[] = []
  const start = async (at: number, settings: Readonly<Record<string, string>> = {}): Promise<void> => {
    nodes[at] = await startService(devnet, { ...shared, ...places[at]!, ...settings })
    const { url } = nodes[at]
    await movePrice({ chain, url: () => url }, 'BTC/USD', '60000')
  }
  open.defer(async () => void (await Promise.all(nodes.map((node) => node.stop()))))
  await Promise.all(places.map((_, at) => start(at)))
  const front = await startFront(nodes.map(({ url }) => ({ url, isRelayer: true })))
  open.defer(() => front.close())
  return {
    server,
    redis,
    devnet,
    chain,
    front,
    domain: await domainOf(front.url),
    size: options.size,
    urlOf: (at) => nodes[at]!.url,
    pidOf: (at) => nodes[at]!.pid,
    start,
    end: (at, how) => nodes[at]![how](),
    async restart(at, how) {
      await nodes[at]![how]()
      await start(at)
    },
    async rows(sql) {
      const text = (await server.psql(DATABASE, sql)).trim()
      return text === '' ? [] : text.split('\n')
    },
    close: () => open.disposeAsync(),
  }
}

/** Returns the settings of each node that it keeps when it is started again: its port, its folder and its roles. */
async function listPlaces({ size, roles = [] }: ClusterOptions, folder: string): Promise<Record<string, string>[]> {
  const ports = new Set<number>()
  while (ports.size < size) ports.add(await lastingPort())
  return [...ports].map((port, at) => ({
    PORT: String(port),
    BEZEL_DATA: join(folder, `node-${at}`),
    BEZEL_ROLES: roles[at] ?? '',
  }))
}
