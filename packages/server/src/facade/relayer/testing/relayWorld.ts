import type { Address, Hex } from '@bezel/protocol'
import { migrate } from '../../../store/openStore.ts'
import type { Store } from '../../../store/sql.ts'
import { openTestStore, type TestStore } from '../../../store/testing/testStore.ts'
import type { Attempt, AttemptId } from '../../../trading/orders/orderModel.ts'
import { wrapCalls } from '../../../trading/plan/encodeCall.ts'
import { createRelaying, type Relaying } from '../createRelaying.ts'
import type { RelayContext } from '../relayContext.ts'
import { createRelayerKey, type RelayerKey } from '../relayerKey.ts'
import { defaultRelayerSettings, type RelayerSettings } from '../relayerSettings.ts'
import { loadSigningEngine } from '../signingEngine.ts'
import { createFakeRelayNode, type FakeRelayNode } from './fakeRelayNode.ts'

export const CHAIN = {
  slug: 'arbitrum-sepolia',
  chainId: 421_614,
  diamond: '0xd659a15812064C79E189fd950A189b15c75d3186' as Address,
  finalityDepth: 8,
} as const

export const TRADER = '0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf' as Address

export const OTHER_TRADER = '0x2B5AD5c4795c026514f8317c7a215E218DcCD6cF' as Address

export const START_MS = 1_800_000_000_000

export const testKey: RelayerKey = createRelayerKey(Buffer.alloc(32, 7), await loadSigningEngine())

/** A relayer on a fake node and a real store, with a clock that only the test moves. */
export interface RelayWorld {
  readonly node: FakeRelayNode
  readonly opened: TestStore
  nowMs: number
  relaying: Relaying
  readonly logged: string[]
  /** The hash changes that were reported. */
  readonly hashes: { readonly attemptId: AttemptId; readonly hash: Hex }[]
  /** Starts a new process that knows nothing but the store. */
  restart(store?: Store): void
  enqueue(attempt?: Attempt, trader?: Address): Promise<Hex>
  /** Runs steps until nothing is left to do at this moment. */
  settle(): Promise<void>
  /** Mines blocks, moving the clock by `ms` and settling after each. */
  pass(blocks: number, ms?: number): Promise<void>
  close(): Promise<void>
}

let attempts = 0

/** Returns a transaction prepared for the relayer. */
export function attemptOf(of: { expiresAtMs: number; gas?: string | null; trader?: Address }): Attempt {
  attempts += 1
  const id = `0x${attempts.toString(16).padStart(16, '0')}` as AttemptId
  const { data } = wrapCalls({
    calls: ['0xabcdef01' as Hex],
    trader: of.trader ?? TRADER,
    agent: testKey.address,
    attemptId: id,
  })
  return {
    id,
    kind: 'open',
    sender: testKey.address,
    calldata: data,
    gas: of.gas === undefined ? '1000000' : of.gas,
    createdAtMs: START_MS,
    expiresAtMs: of.expiresAtMs,
    size: null,
    submittedHash: null,
    submittedAtMs: null,
    trustedUntilMs: null,
    isMismatch: false,
    withdrawnAtMs: null,
  }
}

export async function openRelayWorld(settings: Partial<RelayerSettings> = {}): Promise<RelayWorld> {
  const opened = openTestStore()
  await migrate(opened.store)
  const node = createFakeRelayNode(testKey.address)
  const world: RelayWorld = {
    node,
    opened,
    nowMs: START_MS,
    relaying: undefined as never,
    logged: [],
    hashes: [],
    restart(store = opened.store) {
      world.relaying = createRelaying(contextOf(store))
    },
    async enqueue(attempt = attemptOf({ expiresAtMs: world.nowMs + 60_000 }), trader = TRADER) {
      const { hash } = await opened.store.transaction((sql) => world.relaying.enqueue(sql, { attempt, trader }))
      return hash
    },
    async settle() {
      for (let left = 50; left > 0 && (await world.relaying.step()); left -= 1);
    },
    async pass(blocks, ms = 300) {
      await world.settle()
      for (let i = 0; i < blocks; i += 1) {
        world.nowMs += ms
        node.mine()
        await world.settle()
      }
    },
    close: () => opened.remove(),
  }

  function contextOf(store: Store): RelayContext {
    const log = (_of: unknown, text: string): number => world.logged.push(text)
    return {
      chain: CHAIN,
      sender: { chain: CHAIN.slug, sender: testKey.address },
      signer: testKey.signerOf(CHAIN),
      client: node.client,
      store,
      settings: { ...defaultRelayerSettings(CHAIN.slug), ...settings },
      now: () => world.nowMs,
      log: { info: () => undefined, warn: log, error: log } as never,
      head: () => ({ number: node.head() }),
      onHash: async (_sql, of) => void world.hashes.push(of),
    }
  }

  world.restart()
  return world
}
