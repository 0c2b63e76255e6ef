import assert from 'node:assert/strict'
import process from 'node:process'
import { Client } from 'pg'
import { after, afterEach, before, beforeEach, describe, it } from 'node:test'
import { createSeededRandom, type SeededRandom } from '@bezel/testkit/seededRandom.ts'
import { startPostgres, type RunningPostgres } from '@bezel/testkit/startPostgres.ts'
import { startProxy, type TcpProxy } from '@bezel/testkit/startProxy.ts'
import { startRedis, type RunningRedis } from '@bezel/testkit/startRedis.ts'
import { until } from '@bezel/testkit/until.ts'
import { installPostgres } from '../../../../scripts/installPostgres.ts'
import { installRedis } from '../../../../scripts/installRedis.ts'
import { leaveRedis, readKeeper } from '../store/nonceKeeperStore.ts'
import { migrate } from '../store/openStore.ts'
import { openPostgres } from '../store/postgres.ts'
import { textOf, type Sql } from '../store/sql.ts'
import { FAST, openSharedNode, type SharedNode } from './testing/sharedNode.ts'

/** Faults of the random story; `CAMPAIGN` makes it longer. */
const FAULTS = Number(process.env['CAMPAIGN'] ?? 15)
const SEED = Number(process.env['SEED'] ?? 7)

let server: RunningPostgres
let redis: RunningRedis
let databases = 0

before(async () => {
  installPostgres()
  installRedis()
  server = await startPostgres()
  redis = await startRedis()
})
after(async () => {
  await redis?.remove()
  await server?.remove()
})

async function createDatabase(): Promise<string> {
  const url = await server.createDatabase(`nonces_${databases++}`)
  const store = openPostgres({ url, connections: 2, statementMs: 60_000, idleTransactionMs: 60_000 })
  await migrate(store)
  await store.close()
  return url
}

let lastNonce = 0
const fresh = (): string => String(++lastNonce)

/** Waits until a read of this node is accepted by Redis alone. */
const untilRedisAlone = (node: SharedNode): Promise<unknown> =>
  until('Redis alone accepts', async () => {
    const claims = node.keeper.claims()
    return (await node.read(fresh())) === 'accepted' && node.keeper.claims() === claims
  })

/** Returns the epoch of the last look, which on a slow machine may not come in time. */
const epochOf = (node: SharedNode): Promise<string> => until('Redis is the keeper', () => node.keeper.look()?.epoch)

/** Sends reads that are dated ahead by this much until one is accepted, and returns it. */
const acceptedRead = (node: SharedNode, aheadMs: number): Promise<{ nonce: string; timestampMs: number }> =>
  until('a read is accepted', async () => {
    const request = { nonce: fresh(), timestampMs: Date.now() + aheadMs }
    return (await node.read(request.nonce, request.timestampMs)) === 'accepted' ? request : undefined
  })

/** Waits until a read of this node is accepted by the store alone. */
const untilStore = (node: SharedNode): Promise<unknown> =>
  until('the store accepts', async () => (await node.read(fresh())) === 'accepted' && node.keeper.isOnStore())

describe('two nodes that share a database and a Redis', () => {
  let nodes: readonly SharedNode[]
  let proxies: readonly TcpProxy[]
  let databaseUrl: string

  beforeEach(async () => {
    databaseUrl = await createDatabase()
    proxies = await Promise.all([startProxy(redis.port), startProxy(redis.port)])
    nodes = await Promise.all(proxies.map(({ port }) => openSharedNode(databaseUrl, redis.urlOf(port))))
  })
  afterEach(async () => {
    redis.resume()
    await Promise.all(nodes.map((node) => node.close()))
    await Promise.all(proxies.map((proxy) => proxy.close()))
  })

  /** Returns what a request gets from both nodes. */
  async function replay(nonce: string, timestampMs: number): Promise<string[]> {
    return Promise.all(nodes.map((node) => node.read(nonce, timestampMs)))
  }

  it('accept a nonce once, in Redis alone, beside the store, and in the store', async () => {
    const [a, b] = nodes as [SharedNode, SharedNode]
    for (const ready of [untilRedisAlone, untilStore]) {
      if (ready === untilStore) proxies[0]!.ignoreNew()
      if (ready === untilStore) proxies[0]!.cut()
      await until('both tell that a nonce was used', async () => {
        await ready(a)
        let told = 0
        for (const aheadMs of [-300, 0, 90, 400]) {
          const [nonce, timestampMs] = [fresh(), Date.now() + aheadMs]
          const first = await b.read(nonce, timestampMs)
          if (first !== 'accepted') continue
          const answers = await replay(nonce, timestampMs)
          assert.ok(!answers.includes('accepted'), answers.join())
          // A machine that was too slow for the times of the keeper can't tell, and says so.
          if (answers.every((answer) => answer === 'NONCE_REUSED')) told += 1
        }
        return told > 0
      })
    }
  })

  it('take one trip to Redis and none to the database for a read whose clock is right', async () => {
    const [a, b] = nodes as [SharedNode, SharedNode]
    await untilRedisAlone(a)
    await untilRedisAlone(b)
    // Again where the machine was so slow that a look at the row was late.
    await until('twenty reads in a row are told by Redis', async () => {
      const claims = a.keeper.claims() + b.keeper.claims()
      const trips = a.scriptsRun() + b.scriptsRun()
      const answers = []
      for (let at = 0; at < 20; at++) answers.push(await (at % 2 === 0 ? a : b).read(fresh()))
      if (a.keeper.claims() + b.keeper.claims() !== claims) return false
      if (!answers.every((answer) => answer === 'accepted')) return false
      assert.equal(a.scriptsRun() + b.scriptsRun() - trips, 20)
      return true
    })
  })

  for (const [name, lose] of Object.entries({
    flush: async (): Promise<void> => void (await redis.command('FLUSHALL')),
    restart: async () => {
      await redis.stop()
      await redis.start()
    },
  })) {
    it(`accept nothing again that Redis forgot in a ${name}`, async () => {
      const [a] = nodes as [SharedNode]
      await untilRedisAlone(a)
      // The first is dated further ahead than Redis accepts alone, and later than the store begins to accept.
      const used = [await acceptedRead(a, 550), await acceptedRead(a, 80)]
      await lose()
      const answers = await replayWhileInWindow(used)
      assert.equal(answers.has('accepted'), false, [...answers].join())
      for (const node of nodes) await untilRedisAlone(node)
    })
  }

  it('accept nothing again after the clock of Redis has jumped ahead, and nonces have ended early', async () => {
    const [a] = nodes as [SharedNode]
    await untilRedisAlone(a)
    const used = [await acceptedRead(a, 80)]
    await redis.command('EVAL', CLOCK_JUMP, '0', '130000')
    const answers = await replayWhileInWindow(used)
    assert.equal(answers.has('accepted'), false, [...answers].join())
  })

  it('keep what Redis knows while the database does not answer', async () => {
    const databaseProxy = await startProxy(server.port)
    const url = await createDatabase()
    const node = await openSharedNode(url.replace(`:${server.port}/`, `:${databaseProxy.port}/`), redis.urlOf())
    await untilRedisAlone(node)
    const epochKey = `${node.scripts!.prefix}epoch`
    databaseProxy.ignoreNew()
    databaseProxy.cut()
    await until('the last look is old', () => node.keeper.look() === undefined)
    await redis.command('PEXPIRE', epochKey, '20000')
    await until('it lives longer', async () => Number((await redis.command('PTTL', epochKey)).slice(1)) > 20_000)
    databaseProxy.resume()
    await node.close()
    await databaseProxy.close()
  })

  /** Sends used requests to both nodes again and again, until all have left their window. Returns the answers. */
  async function replayWhileInWindow(
    used: readonly { readonly nonce: string; readonly timestampMs: number }[],
  ): Promise<Set<string>> {
    const answers = new Set<string>()
    const lastMs = Math.max(...used.map(({ timestampMs }) => timestampMs)) + FAST.windowMs
    do {
      for (const { nonce, timestampMs } of used) {
        for (const answer of await replay(nonce, timestampMs)) answers.add(answer)
      }
    } while (Date.now() < lastMs)
    return answers
  }

  it('accept nothing again after Redis was restarted from an older file, before anybody missed it', async () => {
    const node = await openSharedNode(await createDatabase(), redis.urlOf(), { ...FAST, graceMs: 600_000 })
    await untilRedisAlone(node)
    assert.match(await redis.command('SAVE'), /OK/)
    const { nonce, timestampMs } = await acceptedRead(node, 80)
    const run = node.link!.run()
    await redis.stop()
    await redis.start()
    const answers = new Set<string>()
    await until('the store is the keeper', async () => {
      answers.add(await node.read(nonce, timestampMs))
      return node.keeper.isOnStore()
    })
    await untilRedisAlone(node)
    assert.notEqual(node.link!.run(), run)
    assert.equal(answers.has('accepted'), false, [...answers].join())
    await node.close()
  })

  it('accept nothing in the store that a node which had not heard of it accepts in Redis alone', async () => {
    const times = { ...FAST, validMs: 1_000 }
    const databaseProxy = await startProxy(server.port)
    const url = await createDatabase()
    const [late, prompt] = await Promise.all([
      openSharedNode(url.replace(`:${server.port}/`, `:${databaseProxy.port}/`), redis.urlOf(), times),
      openSharedNode(url, redis.urlOf(), times),
    ])
    await until('a read is accepted in Redis after the other has left it', async () => {
      await untilRedisAlone(late)
      databaseProxy.hang()
      await prompt.keeper.giveUp(await epochOf(prompt))
      const [nonce, timestampMs] = [fresh(), Date.now() + 90]
      const first = await late.read(nonce, timestampMs)
      await until('the store accepts what is dated later', async () => {
        assert.equal(first === 'accepted' && (await prompt.read(nonce, timestampMs)) === 'accepted', false)
        return (await prompt.read(fresh())) === 'accepted'
      })
      databaseProxy.resume()
      return first === 'accepted'
    })
    await Promise.all([late.close(), prompt.close()])
    await databaseProxy.close()
  })

  it('accept nothing in Redis that the store accepted before the return to it', async () => {
    const [a, b] = nodes as [SharedNode, SharedNode]
    await untilRedisAlone(a)
    await a.keeper.giveUp(await epochOf(a))
    const used: { readonly nonce: string; readonly timestampMs: number }[] = []
    await until('Redis is the keeper again', async () => {
      const request = { nonce: fresh(), timestampMs: Date.now() + 550 }
      if ((await b.read(request.nonce, request.timestampMs)) === 'accepted' && b.keeper.isOnStore()) used.push(request)
      return used.length > 0 && !b.keeper.isOnStore()
    })
    // Each is sent again when Redis alone could accept its date, and not before: it would learn of the nonce.
    for (const { nonce, timestampMs } of used) {
      await until('the date has come', () => Date.now() >= timestampMs - FAST.aheadMs / 2)
      assert.equal(await b.read(nonce, timestampMs), 'NONCE_REUSED')
    }
  })

  it('refuse with an error to be retried what one of them can not tell, and go on with the store', async () => {
    const [a, b] = nodes as [SharedNode, SharedNode]
    await untilRedisAlone(a)
    await untilRedisAlone(b)
    const { nonce, timestampMs } = await acceptedRead(a, 0)
    proxies[1]!.hang()
    const answers = new Set<string>()
    await until('b is on the store', async () => {
      answers.add(await b.read(nonce, timestampMs))
      return b.keeper.isOnStore()
    })
    // A database that is too slow is told, too.
    answers.delete('unavailable')
    assert.deepEqual([...answers], ['NOT_READY'])
    await untilStore(a)
    await untilStore(b)
    proxies[1]!.resume()
    await untilRedisAlone(b)
    await untilRedisAlone(a)
  })

  it('accept no nonce twice, whatever fails for whom and when', async (test) => {
    const random = createSeededRandom(SEED)
    const story = createStory(random, () => nodes)
    for (let fault = 0; fault < FAULTS; fault++) {
      await FAULT_KINDS[random.below(FAULT_KINDS.length)]!(random.pick(proxies), random)
      await story.load(6)
      redis.resume()
      for (const proxy of proxies) if (random.chance(0.6)) proxy.resume()
      if (random.chance(0.2)) {
        const at = random.below(nodes.length)
        await nodes[at]!.close()
        const reopened = await openSharedNode(databaseUrl, redis.urlOf(proxies[at]!.port))
        nodes = nodes.map((node, index) => (index === at ? reopened : node))
      }
      if (random.chance(0.5)) {
        for (const proxy of proxies) proxy.resume()
        await untilRedisAlone(nodes[0]!)
      }
      await story.load(6)
    }
    for (const proxy of proxies) proxy.resume()
    for (const node of nodes) await untilRedisAlone(node)
    test.diagnostic(story.summary())
    assert.deepEqual(story.twice(), [])
  })
})

/** Script that does to all keys what a jump of the server's clock by some milliseconds does. */
const CLOCK_JUMP = `
for _, key in ipairs(redis.call('KEYS', '*')) do
  redis.call('PEXPIRE', key, redis.call('PTTL', key) - ARGV[1])
end`

it('a look at the row is dated before it sees anything, however late the database answers', async () => {
  const url = await createDatabase()
  const [reader, writer] = [new Client(url), new Client(url)]
  await Promise.all([reader.connect(), writer.connect()])
  await writer.query("update nonce_keeper set epoch = 'run.1'")
  /** Sees the row when the statement is bound, and is executed after another node has left Redis. */
  const late: Pick<Sql, 'get'> = {
    async get(statement) {
      await reader.query('begin')
      await reader.query(`declare bound cursor for ${textOf(statement)}`)
      const store = openPostgres({ url, connections: 2, statementMs: 60_000, idleTransactionMs: 60_000 })
      await leaveRedis(store.read, 'run.1', 0)
      await store.close()
      return (await reader.query('fetch bound')).rows[0]
    },
  }
  const look = await readKeeper(late)
  const { rows } = await writer.query<{ epoch: string; store_after: string }>('select * from nonce_keeper')
  assert.deepEqual([look.epoch, rows[0]!.epoch], ['run.1', ''])
  assert.ok(look.databaseMs <= Number(rows[0]!.store_after), `${look.databaseMs} > ${rows[0]!.store_after}`)
  await Promise.all([reader.end(), writer.end()])
})

/** Faults of one node's way to Redis, or of Redis itself. A flush is seen only where Redis alone had accepted. */
const FAULT_KINDS: readonly ((proxy: TcpProxy, random: SeededRandom) => Promise<unknown> | void)[] = [
  () => redis.command('FLUSHALL'),
  () => redis.command('FLUSHALL'),
  async () => {
    await redis.stop()
    await redis.start()
  },
  () => redis.pause(),
  (proxy) => proxy.hang(),
  (proxy) => proxy.cut(),
  (proxy) => {
    proxy.ignoreNew()
    proxy.cut()
  },
]

interface Story {
  /** Sends rounds of new requests and of replays to random nodes at the same time. */
  load(rounds: number): Promise<void>
  /** Lists the nonces that were accepted more than once. */
  twice(): string[]
  summary(): string
}

function createStory(random: SeededRandom, nodes: () => readonly SharedNode[]): Story {
  const sent: { readonly nonce: string; readonly timestampMs: number; accepted: number }[] = []
  const outcomes = new Map<string, number>()

  async function send(request: (typeof sent)[number]): Promise<void> {
    const outcome = await random.pick(nodes()).read(request.nonce, request.timestampMs)
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
    if (outcome === 'accepted') request.accepted += 1
  }

  return {
    async load(rounds) {
      for (let round = 0; round < rounds; round++) {
        const made = Array.from({ length: 4 }, () => {
          const aheadMs = random.chance(0.6) ? 0 : random.below(2 * FAST.windowMs) - FAST.windowMs
          return { nonce: fresh(), timestampMs: Date.now() + aheadMs, accepted: 0 }
        })
        sent.push(...made)
        const recent = sent.slice(-300).filter(({ timestampMs }) => timestampMs > Date.now() - FAST.windowMs)
        const replayed = Array.from({ length: recent.length === 0 ? 0 : 12 }, () => random.pick(recent))
        await Promise.all([...made, ...made, ...replayed].map(send))
      }
    },
    twice: () => sent.filter(({ accepted }) => accepted > 1).map(({ nonce }) => nonce),
    summary: () => `seed ${SEED}: ${[...outcomes].map(([name, count]) => `${count} ${name}`).join(', ')}`,
  }
}
