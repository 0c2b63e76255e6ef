import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Address } from '@bezel/protocol'
import { readWitnessedLogs, readWitnessedTokens, type WitnessedChain } from '@bezel/testkit/tokenWitness.ts'
import type { PublicClient, ReadContractParameters } from 'viem'
import { createRandom, type Random } from '../../../../contracts/test/campaign/random.ts'
import { USERS } from '../../../../contracts/test/campaign/snapshot.ts'
import { depthFinality } from '../chain/finality.ts'
import type { RpcClient } from '../chain/rpcClient.ts'
import { NodeUnavailableError } from '../ground/unavailable.ts'
import { createChainHead } from '../journal/clock.ts'
import { openTestLog } from '../journal/testing/testLog.ts'
import { listOpenPositions } from '../store/positionStore.ts'
import { readSnapshot } from '../store/snapshotStore.ts'
import { toExactJson, type Store } from '../store/sql.ts'
import { openMigratedTestStore } from '../store/testing/testStore.ts'
import type { ChainMarkets } from '../trading/market/chainMarkets.ts'
import { expectLikeViews } from '../trading/positions/testing/expectLikeViews.ts'
import { createFollowing, type Following } from './createFollowing.ts'
import { expectBalancedBooks } from './testing/expectBalancedBooks.ts'
import { expectLikeChain } from './testing/expectLikeChain.ts'
import { expectSameOpen } from './testing/expectSameOpen.ts'
import { expectSameSince } from './testing/expectSameSince.ts'
import { createWalkedChain, type WalkedChain } from './testing/walkedChain.ts'

// A snapshot at a random block and what follows it must say the same as the index of the whole history, and as the
// Diamond's own views. CAMPAIGN=10000 tries that many histories; SEED=7 tries one, and SEED=7 CAMPAIGN=100
// a hundred from there, so that several processes can share the work. TMPDIR=/dev/shm spares them the disk.

const CHAIN = 'arbitrum-sepolia'
const SEED = process.env['SEED']
const HISTORIES = Number(process.env['CAMPAIGN'] ?? (SEED === undefined ? 20 : 1))
const TRADERS = USERS as readonly Address[]
const SYMBOLS = ['DAI', 'WETH', 'USDC']
/** Longer than the intervals of the looks and of the round that compares counters. */
const ROUND_MS = 31_000
/** More rounds than a node needs that is away now and then. */
const MAX_ROUNDS = 30
const MAX_DEPTH = 20

/** Circumstances that a snapshot treats in its own way. */
const WANTED = [
  'found a position',
  'found a position that ended later',
  'found a resting order',
  'found a request',
  'found a request that had timed out',
  'found an order that was filled later',
  'found an order that was refused later',
  'killed in the middle of a snapshot',
  'killed after it',
  'its block reorganised away',
] as const

/** Circumstances that few histories meet. */
const RARE = [
  'found a position that is being changed',
  'found a position that had ended before an answer',
  'found an order that was cancelled later',
  'reorganised after its block',
  'its block reorganised away while it was taken',
] as const

const ENOUGH_FOR_RARE = 300

type Circumstance = (typeof WANTED)[number] | (typeof RARE)[number]

describe('a snapshot of the local chain, at a random moment of random histories', () => {
  let chain: WalkedChain
  let markets: ChainMarkets
  /** Number of occurrences of each circumstance that a snapshot treats in its own way. */
  const witnessed = new Map<Circumstance, number>([...WANTED, ...RARE].map((circumstance) => [circumstance, 0]))
  const witness = (circumstance: Circumstance, count = 1): void =>
    void witnessed.set(circumstance, witnessed.get(circumstance)! + count)

  before(async () => {
    chain = await createWalkedChain()
    markets = await chain.readMarkets()
  })
  after(() => chain?.stop())

  /** Compares a follower that took a snapshot with one that read everything, and both with the Diamond. */
  async function compare(found: Followed, indexed: Followed): Promise<void> {
    for (const followed of [found, indexed]) await followed.catchUp()
    assert.equal(found.following.head()?.hash, indexed.following.head()?.hash)
    const { block } = found.following.knowledge.knownSince()!
    await expectSameOpen(found.store, indexed.store, CHAIN, TRADERS)
    await expectSameSince(found.store, indexed.store, CHAIN, block)
    for (const trader of TRADERS) {
      await expectLikeChain(found.store, chain.witness, trader)
      assert.equal(found.following.knowledge.isKnown(trader), true, trader)
    }
    await expectValues(found.store)
    assert.equal(await countAdopted(indexed.store), 0, 'nothing that was followed is found again')
  }

  async function expectValues(store: Store): Promise<void> {
    const now = await chain.readMarkets()
    const prices = chain.prices()
    for (const { record, state } of await listOpenPositions(store.read, CHAIN)) {
      const price = prices.get(state!.trade.pairIndex)!
      const quote = { mark: price, index: price, updatedAtMs: 0 }
      await expectLikeViews(chain, { record, state: state! }, now, quote, now.moment)
    }
  }

  async function expectBooks({ store, following }: Followed): Promise<void> {
    const { block: since } = following.knowledge.knownSince()!
    const asked = askedOnce(chain.witness)
    const tokens = await readWitnessedTokens(asked, SYMBOLS)
    const logs = await readWitnessedLogs(asked, tokens, BigInt(since + 1))
    for (const trader of TRADERS) {
      for (const symbol of SYMBOLS) await expectBalancedBooks(store, asked, trader, { symbol, since, logs })
    }
  }

  /** Lets the chain go on, go back, or the process be killed. */
  async function disturb(random: Random, found: Followed): Promise<void> {
    if (random.chance(0.5)) await chain.walk(random.int(1, 3))
    if (random.chance(0.15)) await reorganise(random, found)
    if (!random.chance(0.2)) return
    witness(found.following.knowledge.isTakingSnapshot() ? 'killed in the middle of a snapshot' : 'killed after it')
    await found.kill()
  }

  async function reorganise(random: Random, found: Followed): Promise<void> {
    const own = chain.headNumber() - chain.lastCommonBlock
    // A walk may leave the chain where all histories begin, to which the next one has to go back.
    if (own === 0) return
    const depth = random.int(1, Math.min(MAX_DEPTH, own))
    const snapshot = await readSnapshot(found.store.read, CHAIN)
    const isUndone = snapshot !== undefined && snapshot.block.number > chain.headNumber() - depth
    if (!isUndone) witness('reorganised after its block')
    else witness(snapshot.isComplete ? 'its block reorganised away' : 'its block reorganised away while it was taken')
    await chain.reorg(depth, random.pick(['drop', 'remine']))
  }

  /** Notes what was found, and what became of it. */
  async function witnessFound({ store }: Followed): Promise<void> {
    const count = async (from: string): Promise<number> =>
      Number((await store.read.get<{ count: bigint }>(`select count(*) as count from ${from}`))!.count)
    const found = `body like '%"adopted"%'`
    const positions = `position_events where ${found} and position_id in (select id from positions where`
    witness('found a position', await count(`position_events where ${found}`))
    witness(
      'found a position that is being changed',
      await count(`position_events where ${found} and handle is not null`),
    )
    witness('found a position that ended later', await count(`${positions} is_open = 0)`))
    witness(
      'found a position that had ended before an answer',
      await count(`position_events where body like '%"closed"%' and body like '%"txHash":null%'`),
    )
    const orders = `order_events where ${found} and order_id in (select id from orders where`
    witness('found a resting order', await count(`order_events where ${found} and handle like 'trade:%'`))
    witness('found a request', await count(`order_events where ${found} and handle like 'pending:%'`))
    witness('found a request that had timed out', await count(`${orders} status = 'timed_out')`))
    witness('found an order that was filled later', await count(`${orders} status = 'filled')`))
    witness('found an order that was refused later', await count(`${orders} status = 'rejected')`))
    witness('found an order that was cancelled later', await count(`${orders} status = 'canceled')`))
  }

  async function live(seed: number): Promise<void> {
    const random = createRandom(seed)
    await chain.restart(seed)
    await chain.walk(random.int(1, 15))
    const client = random.chance(0.3) ? flaky(chain.client, random) : chain.client
    const indexed = await openFollowed({ chain, markets, startBlock: chain.firstBlock })
    const found = await openFollowed({ chain, markets, client, tradersPerPart: random.int(1, 4) })
    try {
      while (found.following.knowledge.isTakingSnapshot()) {
        await found.step()
        await disturb(random, found)
      }
      await compare(found, indexed)
      for (let parts = random.int(1, 3); parts > 0; parts -= 1) {
        await chain.walk(random.int(1, 7))
        if (random.chance(0.7)) await found.catchUp()
        await disturb(random, found)
      }
      await compare(found, indexed)
      await expectBooks(found)
      await witnessFound(found)
    } finally {
      await found.remove()
      await indexed.remove()
    }
  }

  const first = Number(SEED ?? 1)
  for (let seed = first; seed < first + HISTORIES; seed += 1) {
    it(`number ${seed}`, () => live(seed))
  }

  it('in which positions ended before the answer to a request about them', async () => {
    await chain.restart(0)
    const requests = await chain.liquidateBeforeAnswers()
    const indexed = await openFollowed({ chain, markets, startBlock: chain.firstBlock })
    const found = await openFollowed({ chain, markets })
    try {
      while (found.following.knowledge.isTakingSnapshot()) await found.step()
      await compare(found, indexed)
      await witnessFound(found)
      assert.ok(requests > 3 && witnessed.get('found a position that had ended before an answer')! > 3)
      await chain.walk(5)
      await compare(found, indexed)
      await expectBooks(found)
    } finally {
      await found.remove()
      await indexed.remove()
    }
  })

  it('meet everything that a snapshot treats in its own way', { skip: SEED !== undefined || HISTORIES < 20 }, (t) => {
    for (const [circumstance, count] of witnessed) t.diagnostic(`${circumstance}: ${count}`)
    const wanted = HISTORIES < ENOUGH_FOR_RARE ? WANTED : [...WANTED, ...RARE]
    assert.deepEqual(
      wanted.filter((circumstance) => witnessed.get(circumstance) === 0),
      [],
    )
  })
})

/** Returns a witness that is asked each view once, for as long as no block is mined. */
function askedOnce(witness: WitnessedChain): WitnessedChain {
  const answers = new Map<string, Promise<unknown>>()
  const { client } = witness
  const readContract = (asked: ReadContractParameters): Promise<unknown> => {
    const key = toExactJson([asked.functionName, asked.args, asked.blockNumber])
    const answer = answers.get(key) ?? client.readContract(asked)
    answers.set(key, answer)
    return answer
  }
  return { ...witness, client: Object.assign(Object.create(client), { readContract }) as PublicClient }
}

/** A follower that is stepped by hand, over a store of its own. */
interface Followed {
  following: Following
  readonly store: Store
  /** Takes one step. A node that does not answer is asked again by the next. */
  step(): Promise<boolean>
  /** Follows up to the node's head, and compares counters there. */
  catchUp(): Promise<void>
  /** Goes on with another follower over the same store, as after a kill. */
  kill(): Promise<void>
  remove(): Promise<void>
}

async function openFollowed(of: {
  readonly chain: WalkedChain
  readonly markets: ChainMarkets
  readonly client?: RpcClient
  readonly startBlock?: number
  readonly tradersPerPart?: number
}): Promise<Followed> {
  const { chain, markets, client = chain.client, startBlock, tradersPerPart = 500 } = of
  const opened = await openMigratedTestStore()
  let nowMs = 0

  async function start(): Promise<Following> {
    const following = createFollowing({
      onError: (error) => {
        throw error
      },
      head: createChainHead(),
      chain: chain.served,
      client,
      store: opened.store,
      accountLog: openTestLog(opened.store, CHAIN, undefined, () => nowMs),
      finality: depthFinality(64),
      startBlock,
      tradersPerPart,
      now: () => nowMs,
      timeoutBlocks: () => markets.marketOrdersTimeoutBlocks,
    })
    await following.open()
    return following
  }

  const followed: Followed = {
    following: await start(),
    store: opened.store,
    async step() {
      try {
        return await followed.following.step(markets)
      } catch (error) {
        if (!(error instanceof NodeUnavailableError)) throw error
        await followed.following.open()
        return true
      }
    },
    async catchUp() {
      const follow = async (): Promise<void> => {
        do while (await followed.step());
        while (followed.following.head()?.number !== chain.headNumber())
      }
      await follow()
      // A round whose node was away in the middle leaves traders to the next look.
      for (let rounds = 0; rounds === 0 || followed.following.knowledge.unprovenTraders() > 0; rounds += 1) {
        assert.ok(rounds < MAX_ROUNDS, 'everybody is proven in the end')
        nowMs += ROUND_MS
        await follow()
      }
    },
    async kill() {
      followed.following = await start()
    },
    remove: () => opened.remove(),
  }
  return followed
}

/** Returns a client whose node does not answer now and then. */
function flaky(client: RpcClient, random: Random): RpcClient {
  return {
    roundTrips: client.roundTrips,
    async batch(calls) {
      if (random.chance(0.1)) throw new NodeUnavailableError('the node is away')
      return client.batch(calls)
    },
  }
}

async function countAdopted({ read }: Store): Promise<number> {
  const row = await read.get<{ count: bigint }>(
    `select count(*) as count from position_events where body like '%"adopted"%'`,
  )
  return Number(row!.count)
}
