import type { OrderChange } from '../../packages/server/src/trading/orders/orderModel.ts'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { requestDomain, type Address } from '@bezel/protocol'
import { OFF_CHAIN, type AccountLog, createAccountLog } from '../../packages/server/src/journal/accountLog.ts'
import { createApiKey, hashApiKey } from '../../packages/server/src/agents/apiKey.ts'
import { openRegistry, type Registry } from '../../packages/server/src/agents/registry.ts'
import { admitInProcess } from '../../packages/server/src/access/admission.ts'
import { createInProcessLimits } from '../../packages/server/src/access/inProcessLimits.ts'
import { openNonces } from '../../packages/server/src/access/nonces.ts'
import { selectEngine } from '../../packages/server/src/signatures/engines.ts'
import { saveApiKey } from '../../packages/server/src/store/apiKeyStore.ts'
import { openStore } from '../../packages/server/src/store/openStore.ts'
import type { Store } from '../../packages/server/src/store/sql.ts'
import { createLogChannels } from '../../packages/server/src/stream/channels/logChannels.ts'
import { DEFAULT_BOUNDS } from '../../packages/server/src/stream/bounds.ts'
import { createNativeKind } from '../../packages/server/src/stream/session/nativeKind.ts'
import { serveStream } from '../../packages/server/src/stream/socket/serveStream.ts'
import { createStreamAuth } from '../../packages/server/src/stream/session/streamAuth.ts'
import { createStreamCounts } from '../../packages/server/src/stream/streamCounts.ts'
import { testChain } from '@bezel/testkit/servedChain.ts'
import { TEST_SCOPE } from '../../packages/server/src/store/testing/testScope.ts'

const CHAIN = testChain('arbitrum-sepolia')

const MANY = 1_000_000_000

/** The private part of the stream over a real store, with its log and API keys. */
export interface ResumeServer {
  readonly port: number
  readonly path: string
  /** API keys, one for each trader. */
  readonly keys: readonly string[]
  readonly traders: readonly Address[]
  readonly log: AccountLog
  /** Writes the changes in one commit. */
  tell(changes: readonly OrderChange[]): Promise<void>
  close(): Promise<void>
}

export async function startResumeServer(traderCount: number): Promise<ResumeServer> {
  const folder = mkdtempSync(join(tmpdir(), 'bezel-bench-'))
  const store = await openStore(folder)
  const traders = Array.from({ length: traderCount }, (_, n) => `0x1${n.toString(16).padStart(39, '0')}` as Address)
  const keys = await issueKeys(store, traders)
  const registry = await openRegistry(store)
  const nonces = await openNonces({ store, file: join(folder, 'nonces.log'), now: Date.now })
  const none = async (): Promise<void> => {}
  const log = createAccountLog({
    chain: CHAIN.slug,
    store,
    positionsText: () => '[]',
    now: Date.now,
    onError: (error) => console.error(error),
    alsoKeep: none,
  })
  const server = createServer()
  const { stream, channels } = await serve(server, { log, registry, nonces })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', 4_096, listening))
  return {
    port: (server.address() as AddressInfo).port,
    path: `/v1/${CHAIN.slug}/ws`,
    keys,
    traders,
    log,
    tell: (changes) =>
      log.transaction({ chain: CHAIN.slug }, OFF_CHAIN, async (_sql, journal) =>
        changes.forEach((change) => journal.order(change)),
      ),
    async close() {
      await stream.close()
      channels.close()
      server.close()
      nonces.close()
      await store.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function issueKeys(store: Store, traders: readonly Address[]): Promise<string[]> {
  const keys = traders.map(() => createApiKey())
  await store.transaction(TEST_SCOPE, async (sql) => {
    for (const [at, trader] of traders.entries()) {
      const keyHash = hashApiKey(keys[at]!)!
      const at0 = { createdAtMs: 1, signedAtMs: 1, lastUsedAtMs: null, isProven: true }
      await saveApiKey(sql, { chain: CHAIN.slug, trader, label: '', keyHash, ...at0 })
    }
  })
  return keys
}

async function serve(
  server: ReturnType<typeof createServer>,
  of: { log: AccountLog; registry: Registry; nonces: Awaited<ReturnType<typeof openNonces>> },
) {
  const limits = createInProcessLimits()
  const agents = { chain: CHAIN, registry: of.registry, delegates: { known: () => undefined } } as never
  const empty = async (): Promise<string> => '[]'
  const channels = createLogChannels({
    log: of.log,
    agents,
    snapshots: { orders: empty, fills: empty, positions: empty, account: empty },
    isKnown: () => true,
    watch: () => () => undefined,
    now: Date.now,
    onError: console.error,
  })
  const authenticate = {
    ...of,
    admission: admitInProcess({ limits, nonces: of.nonces, now: Date.now }),
    engine: await selectEngine(),
    limits,
    agentLimit: MANY,
    headerPrefix: 'X-Service-',
    domainOf: () => requestDomain({ name: 'Bench', chainId: CHAIN.chainId, diamond: CHAIN.diamond }),
    now: Date.now,
  }
  const bounds = { ...DEFAULT_BOUNDS, maxSocketsPerIp: MANY }
  const counts = createStreamCounts()
  const none = { subscribe: () => Promise.reject(new Error('nobody asks for others')) }
  const native = createNativeKind(
    {
      channelsOf: () => ({ ...channels, prices: none, book: none, trades: none, candles: none }),
      auth: createStreamAuth({ agentsOf: () => agents, authenticate, now: Date.now }),
      counts,
      now: Date.now,
    },
    bounds,
  )
  const stream = serveStream(server, {
    chains: [CHAIN],
    kinds: [native],
    counts,
    metrics: { answered: () => undefined, rateLimited: () => undefined },
    log: { info: () => undefined, error: console.error },
    limits,
    ipLimit: MANY,
    trustedProxies: 0,
    now: Date.now,
    bounds,
  })
  return { stream, channels }
}
