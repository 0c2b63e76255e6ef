import type { ApiError, ErrorCode } from '@bezel/protocol'
import { openPostgres } from '../../store/postgres.ts'
import { readDeployment } from '../../store/nonceKeeperStore.ts'
import type { Store } from '../../store/sql.ts'
import type { Admission } from '../admission.ts'
import { openNonceKeeper, type KeeperTimes, type NonceKeeper } from '../nonceKeeper.ts'
import { createRedisLimits } from '../redisLimits.ts'
import { openRedisLink, type RedisLink } from '../redisLink.ts'
import { createRedisScripts, type RedisScripts } from '../redisScripts.ts'
import { createSharedAdmission } from '../sharedAdmission.ts'
import { AGENT, CHAIN } from './testNonces.ts'

/** Times that are short enough to switch many times a second, with the same relations as those of the service. */
export const FAST: KeeperTimes = {
  lookMs: 20,
  validMs: 200,
  aheadMs: 100,
  marginMs: 50,
  graceMs: 40,
  quietMs: 150,
  doubtMs: 60_000,
  windowMs: 600,
}

/** A node without anything but its admission, over a real database and a real Redis. */
export interface SharedNode {
  readonly store: Store
  readonly link: RedisLink | undefined
  readonly scripts: RedisScripts | undefined
  readonly keeper: NonceKeeper
  readonly admission: Admission
  /** Scripts that were run, each of which is one trip. */
  scriptsRun(): number
  /** Sends a signed read. Returns what became of it. */
  read(nonce: string, timestampMs?: number): Promise<'accepted' | ErrorCode | 'unavailable'>
  close(): Promise<void>
}

/** Opens a node. `redisUrl` may lead through a proxy; left out, the node knows of no Redis. */
export async function openSharedNode(
  databaseUrl: string,
  redisUrl?: string,
  times: KeeperTimes = FAST,
): Promise<SharedNode> {
  const now = Date.now
  const store = openPostgres({ url: databaseUrl, connections: 8, statementMs: 60_000, idleTransactionMs: 60_000 })
  const link = redisUrl === undefined ? undefined : await openRedisLink({ url: redisUrl })
  let scriptsRun = 0
  const counted = link && {
    ...link,
    evaluate(...of: Parameters<RedisLink['evaluate']>) {
      scriptsRun += 1
      return link.evaluate(...of)
    },
  }
  const scripts = counted && createRedisScripts(counted, await readDeployment(store.read))
  const onError = (error: unknown): void => void process.stderr.write(`${String(error)}\n`)
  const keeper = await openNonceKeeper({ store, scripts, now, onError, times })
  const limits = createRedisLimits({ scripts, name: 'requests', liveNodes: () => 1, now })
  const admission = createSharedAdmission({ store, scripts, limits, keeper, now, onError })
  const buckets = [{ scope: 'agent', key: 'a', limit: 1_000_000 }] as const
  return {
    store,
    link,
    scripts,
    keeper,
    admission,
    scriptsRun: () => scriptsRun,
    async read(nonce, timestampMs = now()) {
      const request = { chain: CHAIN, agent: AGENT, nonce, timestampMs, buckets, isWrite: false } as const
      try {
        await admission.admit(request, () => undefined)
        return 'accepted'
      } catch (error) {
        return (error as Partial<ApiError>).code ?? 'unavailable'
      }
    },
    async close() {
      await limits.close()
      await keeper.close()
      await link?.close()
      await store.close()
    },
  }
}
