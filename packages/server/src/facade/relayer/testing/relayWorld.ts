import assert from 'node:assert/strict'
import type { Address, ChainSlug, Hex } from '@bezel/protocol'
import { sampleAgent } from '../../../agents/testing/sampleAgent.ts'
import { saveAgent } from '../../../store/agentStore.ts'
import { depthFinality, type Finality } from '../../../chain/finality.ts'
import { migrate } from '../../../store/openStore.ts'
import type { Store } from '../../../store/sql.ts'
import { openTestStore, type TestStore } from '../../../store/testing/testStore.ts'
import type { AgentRecord } from '../../../trading/agentRecord.ts'
import type { Attempt, AttemptId } from '../../../trading/orders/orderModel.ts'
import { wrapCalls } from '../../../trading/plan/encodeCall.ts'
import type { ActionToRelay } from '../enqueueAction.ts'
import { createRelaying, type Relaying } from '../createRelaying.ts'
import { RelayRefusedError, type RelayRefusal } from '../gasBudget.ts'
import type { RelayContext, RelayedHash } from '../relayContext.ts'
import { createRelayerKey, type RelayerKey } from '../relayerKey.ts'
import { defaultRelayerSettings, type GasBudgets, type RelayerSettings } from '../relayerSettings.ts'
import { loadSigningEngine } from '../signingEngine.ts'
import { createFakeRelayNode, type FakeRelayNode } from './fakeRelayNode.ts'
import { TEST_SCOPE } from '../../../store/testing/testScope.ts'

export const CHAIN = {
  slug: 'arbitrum-sepolia',
  chainId: 421_614,
  diamond: '0xd659a15812064C79E189fd950A189b15c75d3186' as Address,
} as const

/** Number of blocks on top of a final one. */
export const FINAL_BLOCKS = 8

export const TRADER = '0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf' as Address

export const OTHER_TRADER = '0x2B5AD5c4795c026514f8317c7a215E218DcCD6cF' as Address

export const START_MS = 1_800_000_000_000

export const testKey: RelayerKey = createRelayerKey(Buffer.alloc(32, 7), await loadSigningEngine())

/** A relayer on a fake node and a real store, with a clock that only the test moves. */
export interface RelayWorld {
  readonly node: FakeRelayNode
  readonly opened: TestStore
  nowMs: number
  /** Returns the followed head. Default: the node's. */
  head: RelayContext['head']
  /** Judges from a block which ones are final. Default: those with `FINAL_BLOCKS` on top. */
  finality: Pick<Finality, 'lastFinal'>
  relaying: Relaying
  readonly logged: string[]
  /** The hash changes that were reported. */
  readonly hashes: RelayedHash[]
  /** Starts a new process that knows nothing but the store. */
  restart(store?: Store): void
  /** Starts one more process on the same store, which watches until it leads. */
  startBeside(): Relaying
  enqueue(attempt?: Attempt, trader?: Address, of?: Partial<Pick<ActionToRelay, 'agent' | 'purpose'>>): Promise<Hex>
  /** Runs steps until nothing is left to do at this moment. */
  settle(): Promise<void>
  /** Mines blocks, moving the clock by `ms` and settling after each. */
  pass(blocks: number, ms?: number): Promise<void>
  close(): Promise<void>
}

let attempts = 0

/** Returns a transaction prepared for the relayer. */
export function attemptOf(of: {
  readonly expiresAtMs: number
  readonly gas?: string | null
  readonly trader?: Address
  readonly calls?: readonly Hex[]
}): Attempt {
  attempts += 1
  const id = `0x${attempts.toString(16).padStart(16, '0')}` as AttemptId
  const { data } = wrapCalls({
    calls: of.calls ?? ['0xabcdef01' as Hex],
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

/** Notes hashes that are not the last ones of their attempts: a transaction may run twice, and tells the same again. */
function noteNew(noted: RelayedHash[], hashes: readonly RelayedHash[]): void {
  for (const of of hashes) {
    const last = noted.findLast(({ attemptId }) => attemptId === of.attemptId)
    if (last?.hash !== of.hash) noted.push(of)
  }
}

/** Registers traders as their own relayed agents, without which the relayer sends nothing of theirs twice. */
export async function registerOwn(store: Store, chain: ChainSlug, traders: readonly Address[]): Promise<void> {
  for (const trader of traders) await store.transaction(TEST_SCOPE, (sql) => saveAgent(sql, ownAgent(chain, trader)))
}

/** Returns the record of a trader who is its own agent. */
export function ownAgent(chain: ChainSlug, trader: Address): AgentRecord {
  const times = { createdAtMs: START_MS, signedAtMs: START_MS }
  return sampleAgent({ chain, agent: trader, trader, mode: 'relayed', agentSigned: true, standing: 'used', ...times })
}

/** Returns the reason for which the relayer refuses an action. Fails when it takes it. */
export async function relayRefusal(work: Promise<unknown>): Promise<RelayRefusal> {
  try {
    await work
  } catch (error) {
    assert.ok(error instanceof RelayRefusedError, String(error))
    return error.reason
  }
  return assert.fail('it was taken')
}

export async function openRelayWorld({
  traderDayWei,
  deploymentDayWei,
  ...settings
}: Partial<RelayerSettings & GasBudgets> = {}): Promise<RelayWorld> {
  const budgets = {
    ...(traderDayWei !== undefined && { traderDayWei }),
    ...(deploymentDayWei !== undefined && { deploymentDayWei }),
  }
  const opened = openTestStore()
  await migrate(opened.store)
  await registerOwn(opened.store, CHAIN.slug, [TRADER, OTHER_TRADER])
  const node = createFakeRelayNode(testKey.address)
  const world: RelayWorld = {
    node,
    opened,
    nowMs: START_MS,
    head: () => node.headBlock(),
    finality: depthFinality(FINAL_BLOCKS),
    relaying: undefined as never,
    logged: [],
    hashes: [],
    restart(store = opened.store) {
      world.relaying = createRelaying(contextOf(store))
    },
    startBeside() {
      const beside = createRelaying({ ...contextOf(opened.store), isShared: true })
      beside.lead(undefined)
      return beside
    },
    async enqueue(attempt = attemptOf({ expiresAtMs: world.nowMs + 60_000 }), trader = TRADER, of = {}) {
      const action = { attempt, trader, agent: trader, purpose: { kind: 'other' }, ...of } as const
      const { hash } = await opened.store.transaction(TEST_SCOPE, (sql) => world.relaying.enqueue(sql, action))
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
      settings: { ...defaultRelayerSettings(CHAIN.slug, () => budgets), ...settings },
      now: () => world.nowMs,
      log: { info: () => undefined, warn: log, error: log } as never,
      head: () => world.head(),
      finality: { lastFinal: (head) => world.finality.lastFinal(head) },
      onHashes: async (_sql, hashes) => noteNew(world.hashes, hashes),
    }
  }

  world.restart()
  return world
}
