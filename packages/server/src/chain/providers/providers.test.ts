import assert from 'node:assert/strict'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, it } from 'node:test'
import { until } from '@bezel/testkit/until.ts'
import { parseHex, type Hex } from '@bezel/protocol'
import { toHex } from 'viem'
import { NodeUnavailableError } from '../../ground/unavailable.ts'
import type { RpcCall } from '../rpcClient.ts'
import { createProviders, type Providers, type ProvidersOptions } from './providers.ts'

interface Asked {
  readonly id: number
  readonly method: string
  readonly params: readonly unknown[]
}

/** A node whose chain is a list of hashes, and whose ways a test chooses. */
interface TestNode {
  readonly url: string
  readonly asked: string[]
  way: 'well' | 'failing' | 'hanging'
  head: number
  /** Returns the branch on which a block is. */
  branchOf: (number: number) => string
  /** Lets everything that hangs go on. */
  release: () => void
  refusesTransactions: boolean
  /** True while simulations of writes revert. */
  reverts: boolean
}

const isBroadcast = (method: string): boolean => method === 'eth_sendRawTransaction'
const READ: RpcCall[] = [{ method: 'who', params: [] }]
const hashOf = (branch: string, number: number): Hex => parseHex(toHex(`${branch}${number}`.padEnd(32)))!

describe('the providers of a chain', () => {
  const closing: (() => void)[] = []
  afterEach(() => {
    for (const close of closing.splice(0)) close()
  })

  async function startNode(name: string): Promise<TestNode> {
    let held: (() => void)[] = []
    const server: Server = createServer(async (request, response) => {
      let text = ''
      for await (const chunk of request) text += String(chunk)
      const calls = JSON.parse(text) as Asked[]
      node.asked.push(...calls.map(({ method }) => method))
      if (node.way === 'failing') return void response.writeHead(503).end('gone')
      if (node.way === 'hanging') await new Promise<void>((go) => held.push(go))
      response.end(JSON.stringify(calls.map((call) => ({ id: call.id, ...answerOf(call) }))))
    })
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
    const node: TestNode = {
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      asked: [],
      way: 'well',
      head: 100,
      branchOf: () => 'main',
      release() {
        for (const go of held) go()
        held = []
      },
      refusesTransactions: false,
      reverts: false,
    }
    const answerOf = ({ method, params }: Asked): object => {
      if (method === 'eth_blockNumber') return { result: `0x${node.head.toString(16)}` }
      if (method === 'eth_getBlockByNumber') return { result: blockOf(Number(params[0])) }
      if (method === 'eth_sendRawTransaction' && node.refusesTransactions) {
        return { error: { code: -32000, message: 'txpool is full' } }
      }
      if (method === 'eth_call' && node.reverts) return { error: { code: 3, message: 'execution reverted' } }
      return { result: name }
    }
    const blockOf = (number: number): object | null => {
      if (number > node.head) return null
      const [hash, parentHash] = [number, number - 1].map((at) => hashOf(node.branchOf(at), at))
      return {
        number: `0x${number.toString(16)}`,
        hash,
        parentHash,
        timestamp: '0x1',
        logsBloom: '0x',
        transactions: [],
      }
    }
    closing.push(() => {
      node.release()
      server.close()
      server.closeAllConnections()
    })
    return node
  }

  async function start(
    names: readonly string[],
    of: Partial<ProvidersOptions> = {},
  ): Promise<{ readonly nodes: TestNode[]; readonly providers: Providers; readonly told: string[] }> {
    const nodes = await Promise.all(names.map(startNode))
    const told: string[] = []
    const providers = createProviders({
      settings: nodes.map(({ url }) => ({ url })),
      timeoutMs: 60_000,
      maxBehind: 20,
      watchMs: 3_600_000,
      onChange: (name, state) => told.push(`${name.slice(0, 1)} ${state}`),
      ...of,
    })
    closing.push(() => providers.close())
    // The first look at the heads is over.
    if (nodes.length > 1) await until('all were looked at', () => nodes.every(({ asked }) => asked.length > 0))
    return { nodes, providers, told }
  }

  const answerer = async (client: Pick<Providers, 'batch'>): Promise<unknown> => {
    const [outcome] = await client.batch(READ)
    return outcome?.ok === true ? outcome.result : undefined
  }

  it('asks the preferred one, and the next within the same request when it fails', async () => {
    const { nodes, providers, told } = await start(['a', 'b'])
    assert.equal(await answerer(providers), 'a')
    nodes[0]!.way = 'failing'
    assert.equal(await answerer(providers), 'b')
    assert.deepEqual(told, ['1 away'])
    assert.deepEqual(
      providers.statuses().map(({ state }) => state),
      ['away', 'ok'],
    )
  })

  it('comes back to the preferred one when its rest is over', async () => {
    let nowMs = 0
    const { nodes, providers, told } = await start(['a', 'b'], { now: () => nowMs, random: () => 0 })
    nodes[0]!.way = 'failing'
    await answerer(providers)
    nodes[0]!.way = 'well'
    assert.equal(await answerer(providers), 'b')
    nowMs = 60_000
    nodes[1]!.way = 'failing'
    assert.equal(await answerer(providers), 'a')
    assert.deepEqual(told, ['1 away', '2 away', '1 ok'])
  })

  it('says of each why none can be asked', async () => {
    const { nodes, providers } = await start(['a', 'b'])
    for (const node of nodes) node.way = 'failing'
    await assert.rejects(providers.batch(READ), NodeUnavailableError)
    const [first] = providers.statuses()
    assert.match(first!.reason!, /HTTP 503: gone/)
  })

  it('asks a second one while the first takes longer than usual, and then no more than that', async () => {
    const { nodes, providers } = await start(['a', 'b'])
    for (let i = 0; i < 12; i += 1) await answerer(providers)
    nodes[0]!.way = 'hanging'
    const before = nodes[0]!.asked.length
    assert.equal(await answerer(providers), 'b')
    for (let i = 0; i < 5; i += 1) assert.equal(await answerer(providers), 'b')
    assert.equal(nodes[0]!.asked.length, before + 1, 'one request found out that it hangs')
    assert.deepEqual(
      providers.statuses().map(({ hedges, state }) => [hedges, state]),
      [
        [1, 'slow'],
        [0, 'ok'],
      ],
    )
    nodes[0]!.way = 'well'
    nodes[0]!.release()
    await until('the first is well again', () => providers.statuses()[0]!.state === 'ok')
    assert.equal(await answerer(providers), 'a')
  })

  it('sends a transaction to all, and believes the one that took it', async () => {
    const { nodes, providers } = await start(['a', 'b', 'c'])
    nodes[0]!.refusesTransactions = true
    nodes[1]!.way = 'failing'
    const [outcome] = await providers.batch([{ method: 'eth_sendRawTransaction', params: ['0x'] }])
    assert.deepEqual(outcome, { ok: true, result: 'c' })
    for (const { asked } of nodes) assert.ok(asked.includes('eth_sendRawTransaction'))
    nodes[2]!.refusesTransactions = true
    const [refused] = await providers.batch([{ method: 'eth_sendRawTransaction', params: ['0x'] }])
    assert.equal(refused?.ok === false && refused.message, 'txpool is full')
  })

  it('believes a refusal soon after it came, though another provider hangs', async () => {
    const { nodes, providers } = await start(['a', 'b'])
    nodes[0]!.way = 'hanging'
    nodes[1]!.refusesTransactions = true
    const [refused] = await providers.batch([{ method: 'eth_sendRawTransaction', params: ['0x'] }])
    assert.equal(refused?.ok === false && refused.message, 'txpool is full')
    assert.equal(providers.statuses()[0]!.state, 'slow')
  })

  it('sends a transaction to those that are away only when nobody answers', async () => {
    const { nodes, providers } = await start(['a', 'b'], { random: () => 0, now: () => 0 })
    const broadcast = () => providers.batch([{ method: 'eth_sendRawTransaction', params: ['0x'] }])
    const sentTo = () => nodes.map(({ asked }) => asked.filter(isBroadcast).length)
    nodes[0]!.way = 'failing'
    await broadcast()
    await broadcast()
    assert.deepEqual(sentTo(), [1, 2])
    nodes[1]!.way = 'failing'
    await assert.rejects(broadcast())
    nodes[0]!.way = 'well'
    assert.deepEqual((await broadcast())[0], { ok: true, result: 'a' })
    assert.deepEqual(sentTo(), [2, 4])
  })

  it('takes the success of any provider for each transaction of a batch', async () => {
    const { nodes, providers } = await start(['a', 'b'])
    nodes[0]!.refusesTransactions = true
    nodes[1]!.reverts = true
    const outcomes = await providers.batch([
      { method: 'eth_sendRawTransaction', params: ['0x'] },
      { method: 'eth_call', params: [] },
    ])
    assert.deepEqual(
      outcomes.map((outcome) => outcome.ok && outcome.result),
      ['b', 'a'],
    )
  })

  it('asks one last whose newest block is far behind', async () => {
    const { nodes, providers } = await start(['a', 'b'], { watchMs: 5 })
    nodes[0]!.head = 50
    await until('it is seen', () => providers.statuses()[0]!.state === 'behind')
    assert.equal(await answerer(providers), 'b')
  })

  it('believes no newest block far ahead of two others, which are not behind', async () => {
    const { nodes, providers, told } = await start(['a', 'b', 'c'], { watchMs: 5 })
    nodes[1]!.head = 50
    nodes[2]!.head = 2 ** 40
    await until('the second is seen', () => providers.statuses()[1]!.state === 'behind')
    assert.deepEqual(told, ['2 behind'])
    nodes[1]!.head = 100
    await until('all are well', () => providers.statuses().every(({ state }) => state === 'ok'))
    assert.equal(await answerer(providers), 'a')
  })

  it('refuse a write only when another says so too', async () => {
    const { nodes, providers } = await start(['a', 'b'])
    const simulation = [{ method: 'eth_call', params: [{ from: '0x1' }, 'latest'] }]
    const simulate = async (): Promise<unknown> => {
      const [outcome] = await providers.batch(simulation)
      return outcome?.ok === true ? outcome.result : outcome?.message
    }
    const callsOf = () => nodes.map(({ asked }) => asked.filter((method) => method === 'eth_call').length)
    assert.equal(await simulate(), 'a')
    assert.deepEqual(callsOf(), [1, 0], 'a write that is fine is one question')
    nodes[0]!.reverts = true
    assert.equal(await simulate(), 'b', 'the first does not know yet what the trader has')
    nodes[1]!.reverts = true
    assert.equal(await simulate(), 'execution reverted')
    nodes[1]!.way = 'failing'
    assert.equal(await simulate(), 'execution reverted')
    assert.equal(await simulate(), 'execution reverted', 'nobody else answers')
  })

  it('pass a read on at once where too much waits for the first, whose health that is not', async () => {
    const nodes = await Promise.all(['a', 'b'].map(startNode))
    const providers = createProviders({
      settings: nodes.map(({ url }, at) => ({ url, ...(at === 0 && { unitsPerSecond: 50 }) })),
      timeoutMs: 60_000,
      maxBehind: 20,
      watchMs: 3_600_000,
      now: () => 0,
    })
    closing.push(() => providers.close())
    await until('all were looked at', () => nodes.every(({ asked }) => asked.length > 0))
    const large = Array.from({ length: 20 }, () => READ[0]!)
    const sent = Array.from({ length: 20 }, () => providers.batch(large))
    assert.equal(await answerer(providers), 'b')
    assert.notEqual(providers.statuses()[0]!.state, 'limited')
    await Promise.all(sent)
    assert.equal(providers.statuses()[0]!.hedges, 12, 'the others did not wait for the first at all')
  })

  describe('for a final block', () => {
    const block = { number: 90, hash: hashOf('main', 90) }

    it('want a second one that has it too', async () => {
      const { nodes, providers } = await start(['a', 'b'])
      assert.equal(await providers.confirm(block), true)
      nodes[1]!.head = 80
      assert.equal(await providers.confirm(block), false, 'the second has not come there')
      assert.deepEqual(
        providers.statuses().map(({ state }) => state),
        ['ok', 'ok'],
      )
      assert.equal(await (await start(['alone'])).providers.confirm(block), true)
    })

    it('cut off one that has another, until it has the same', async () => {
      const { nodes, providers, told } = await start(['a', 'b'])
      nodes[1]!.branchOf = () => 'other'
      assert.equal(await providers.confirm(block), false)
      assert.deepEqual(told, ['2 differs'])
      nodes[0]!.way = 'failing'
      await assert.rejects(providers.batch(READ))
      nodes[0]!.way = 'well'
      nodes[1]!.branchOf = () => 'main'
      assert.equal(await providers.confirm(block), true)
      assert.equal(told.at(-1), '2 ok')
    })

    it('cut off the one that was asked when the others agree against it', async () => {
      const { nodes, providers, told } = await start(['a', 'b', 'c'])
      for (const node of nodes.slice(1)) node.branchOf = () => 'other'
      assert.equal(await providers.confirm(block), false)
      assert.deepEqual(told, ['1 differs'])
      assert.equal(await answerer(providers), 'b')
    })
  })

  describe('for a final block that the followed one names and then does not have', () => {
    const statesOf = (providers: Providers) => providers.statuses().map(({ state }) => state)
    const named = { number: 90, hash: hashOf('named', 90) }

    it('cut off nobody, least of all the only one that answers', async () => {
      const { nodes, providers } = await start(['a', 'b'])
      nodes[0]!.way = 'failing'
      await assert.rejects(providers.followerClient(() => undefined).batch(READ))
      await providers.followerClient(() => undefined).choose()
      assert.equal(await providers.confirm(named), false)
      assert.deepEqual(statesOf(providers), ['away', 'ok'])
      assert.equal(await answerer(providers), 'b')
    })

    it('let those go who were cut off by it', async () => {
      const { nodes, providers } = await start(['a', 'b'], { watchMs: 5 })
      nodes[0]!.branchOf = () => 'named'
      await providers.confirm(named)
      assert.deepEqual(statesOf(providers), ['ok', 'differs'])
      nodes[0]!.branchOf = () => 'third'
      await until('nobody is cut off', () => statesOf(providers).every((state) => state === 'ok'))
    })

    it('cut it off all the same when two others agree against it', async () => {
      const { nodes, providers } = await start(['a', 'b', 'c'])
      nodes[0]!.branchOf = () => 'third'
      assert.equal(await providers.confirm(named), false)
      assert.deepEqual(statesOf(providers), ['differs', 'ok', 'ok'])
    })
  })

  describe('after a dispute about a final block', () => {
    const block = { number: 90, hash: hashOf('main', 90) }
    const statesOf = (providers: Providers) => providers.statuses().map(({ state }) => state)

    it('ask the one again that was cut off when it agrees with the other, which is gone', async () => {
      const { nodes, providers } = await start(['a', 'b'], { watchMs: 5 })
      nodes[1]!.branchOf = () => 'other'
      await providers.confirm(block)
      nodes[0]!.way = 'failing'
      await assert.rejects(providers.batch(READ))
      nodes[1]!.branchOf = () => 'main'
      await until('the second agrees', () => statesOf(providers)[1] === 'ok')
      assert.equal(await answerer(providers), 'b')
    })

    it('ask it again when the one that was followed turns out to be wrong', async () => {
      const { nodes, providers } = await start(['a', 'b'], { watchMs: 5 })
      nodes[0]!.branchOf = () => 'other'
      await providers.confirm({ number: 90, hash: hashOf('other', 90) })
      assert.deepEqual(statesOf(providers), ['ok', 'differs'])
      nodes[0]!.branchOf = () => 'main'
      await until('both agree', () => statesOf(providers)[1] === 'ok')
    })

    it('go on to leave the other one alone while the one that was followed does not answer', async () => {
      const { nodes, providers } = await start(['a', 'b'], { watchMs: 5 })
      nodes[1]!.branchOf = () => 'other'
      nodes[0]!.way = 'failing'
      await providers.confirm(block)
      const compared = () => nodes[1]!.asked.filter((method) => method === 'eth_getBlockByNumber').length
      const before = compared()
      await until('it was compared again', () => compared() > before + 1)
      assert.equal(statesOf(providers)[1], 'differs', 'nobody confirms what it has')
    })

    it('ask the minority again once it has the block of the others', async () => {
      const { nodes, providers } = await start(['a', 'b', 'c'], { watchMs: 5 })
      nodes[0]!.branchOf = () => 'other'
      assert.equal(await providers.confirm({ number: 90, hash: hashOf('other', 90) }), false)
      assert.deepEqual(statesOf(providers), ['differs', 'ok', 'ok'])
      nodes[2]!.way = 'failing'
      nodes[0]!.branchOf = () => 'main'
      await until('the first is back', () => statesOf(providers)[0] === 'ok')
    })
  })

  describe('for the follower', () => {
    const head = { number: 100, hash: hashOf('main', 100) }

    it('stay with one, which changes only between two steps', async () => {
      const { nodes, providers } = await start(['a', 'b'])
      const follower = providers.followerClient(() => head)
      await follower.choose()
      assert.equal(await answerer(follower), 'a')
      nodes[0]!.way = 'failing'
      await assert.rejects(follower.batch(READ))
      await assert.rejects(follower.batch(READ), 'no other one answers the second half of a step')
      await follower.choose()
      assert.equal(await answerer(follower), 'b')
    })

    it('hear another one beside the one they follow', async () => {
      const { nodes, providers } = await start(['a', 'b'])
      const follower = providers.followerClient(() => head)
      const heard = async (): Promise<unknown> => {
        const [outcome] = (await follower.second?.(READ)) ?? []
        return outcome?.ok === true ? outcome.result : undefined
      }
      assert.equal(await heard(), 'b')
      nodes[1]!.way = 'failing'
      assert.equal(await heard(), undefined)
      nodes[1]!.way = 'well'
      assert.equal(await heard(), 'b', 'the one that just failed is asked all the same')
      assert.equal((await start(['alone'])).providers.followerClient(() => head).second, undefined)
    })

    it('do not wait for another one that has been silent for long, until it answers', async () => {
      let nowMs = 0
      const { nodes, providers } = await start(['a', 'b'], { now: () => nowMs, random: () => 0 })
      const follower = providers.followerClient(() => head)
      nodes[1]!.way = 'failing'
      await follower.second?.(READ)
      nodes[1]!.way = 'hanging'
      nowMs = 60_000
      const before = nodes[1]!.asked.length
      assert.equal(await follower.second?.(READ), undefined)
      await until('it was asked', () => nodes[1]!.asked.length > before)
      nodes[1]!.release()
      await until('its answer came', () => providers.statuses()[1]!.state === 'ok')
      nodes[1]!.way = 'well'
      assert.equal((await follower.second?.(READ))?.length, 1)
    })

    it('prefer another one to one that left out logs', async () => {
      let nowMs = 0
      const { providers, told } = await start(['a', 'b'], { now: () => nowMs })
      const follower = providers.followerClient(() => head)
      follower.leftOutLogs()
      assert.deepEqual(told, ['1 incomplete'])
      await follower.choose()
      assert.equal(await answerer(follower), 'b')
      nowMs = 60_000
      await follower.choose()
      assert.equal(await answerer(follower), 'a', 'it has another chance')
    })

    it('wait for another that has the last followed block', async () => {
      const { nodes, providers } = await start(['a', 'b'])
      const follower = providers.followerClient(() => head)
      nodes[1]!.head = 99
      nodes[0]!.way = 'failing'
      await assert.rejects(follower.batch(READ))
      await follower.choose()
      await assert.rejects(follower.batch(READ), 'the second is one block behind')
      nodes[1]!.head = 100
      await follower.choose()
      assert.equal(await answerer(follower), 'b')
    })

    it('leave the branch of one when two others agree against a final block of it', async () => {
      const { nodes, providers } = await start(['a', 'b', 'c'])
      nodes[0]!.branchOf = () => 'other'
      const follower = providers.followerClient(() => ({ number: 100, hash: hashOf('other', 100) }))
      await follower.choose()
      assert.equal(await answerer(follower), 'a')
      await providers.confirm({ number: 90, hash: hashOf('other', 90) })
      await follower.choose()
      assert.equal(await answerer(follower), 'b')
    })

    it('follow one on another branch only when the present one is gone for long', async () => {
      let nowMs = 0
      const { nodes, providers } = await start(['a', 'b'], { now: () => nowMs })
      let followed = head
      const follower = providers.followerClient(() => followed)
      nodes[1]!.branchOf = () => 'other'
      nodes[0]!.way = 'failing'
      await assert.rejects(follower.batch(READ))
      await follower.choose()
      await assert.rejects(follower.batch(READ))
      nowMs = 10_000
      await follower.choose()
      assert.equal(await answerer(follower), 'b')
      nodes[0]!.way = 'well'
      nowMs = 60_000
      followed = { number: 100, hash: hashOf('other', 100) }
      await answerer(providers)
      await follower.choose()
      assert.equal(await answerer(follower), 'b', 'the followed block is on the branch of the second now')
    })
  })
})
