import assert from 'node:assert/strict'
import process from 'node:process'
import { after, before, describe, it } from 'node:test'
import type { Answer } from '@bezel/testkit/agentClient.ts'
import { createTradingClient, type TradingClient } from '@bezel/testkit/tradingClient.ts'
import { until } from '@bezel/testkit/until.ts'
import { BUSY } from '@bezel/testkit/untilSettled.ts'
import { MIGRATIONS } from '../../packages/server/src/store/migrations/index.ts'
import { startResumingReader, type ResumingReader } from '../stream/resumingReader.ts'
import { firstOrder, LIMIT, newAgent } from './frontRaces.ts'
import { openCluster, type Cluster } from './openCluster.ts'

const NEWER_PROGRAM = new URL('newerProgram.ts', import.meta.url).href
/** Reasons of refusals that a deployment may cause. In a campaign, which has the machine to itself, others count. */
const ALLOWED: ReadonlySet<unknown> = new Set(process.env['CAMPAIGN'] === undefined ? BUSY : ['store_lagging'])
/** The steps of each release, which in a campaign come one after the other, on one node more. */
const RELEASES = process.env['CAMPAIGN'] === undefined ? ['expand,contract'] : ['expand', 'expand,contract']
const NODES = process.env['CAMPAIGN'] === undefined ? 2 : 3
/** Requests of the load that are answered after the last node was replaced, at least. */
const MORE_ANSWERS = 20
const MAX_SHOWN = 5

describe('a deployment whose nodes are replaced one by one under load', () => {
  let cluster: Cluster
  let reader: ResumingReader
  const load = { isOver: false, answers: 0, problems: [] as string[] }
  let loading: Promise<unknown>

  before(async () => {
    cluster = await openCluster({ size: NODES, devnet: { DEVNET_BLOCK_MS: '1000' } })
    const clients = [await clientOf('trader-1'), await clientOf('trader-2')]
    reader = startResumingReader({
      url: () => cluster.front.url,
      domain: cluster.domain,
      agent: clients[0]!.agent,
    })
    await until('it listens', () => reader.isOpen())
    loading = Promise.all(clients.map(keepTrading))
  })
  after(async () => {
    load.isOver = true
    await loading?.catch(() => undefined)
    await reader?.stop()
    await cluster?.close()
  })

  async function clientOf(traderName: string): Promise<TradingClient> {
    const { trader, agent } = await newAgent(cluster, traderName)
    await firstOrder(cluster, agent)
    const { devnet, chain, front } = cluster
    return createTradingClient({ devnet, chain, url: () => front.url }, trader, agent)
  }

  /** Prepares, withdraws and reads, and notes every answer that a deployment must not cause. */
  async function keepTrading(client: TradingClient): Promise<void> {
    const ask = async (...request: Parameters<TradingClient['request']>): Promise<Answer> => {
      const answer = await client.request(...request)
      load.answers += 1
      const isAllowed = ALLOWED.has(answer.body.details?.reason ?? answer.body.code)
      if (answer.status >= 500 && !isAllowed) load.problems.push(`${request[0]}: ${JSON.stringify(answer.body)}`)
      return answer
    }
    while (!load.isOver) {
      try {
        const { body } = await ask('createOrder', 'POST', '/orders', LIMIT)
        await ask('listPositions', 'GET', `/account/${client.trader.address}/positions`)
        await ask('listOpenOrders', 'GET', `/account/${client.trader.address}/orders`)
        if (body.order !== undefined) await ask('cancelOrder', 'DELETE', `/orders/${body.order.id}`)
      } catch (error) {
        load.problems.push(`no answer: ${String(error)}`)
      }
    }
  }

  /** Replaces all nodes, one after the other, by a program with further steps. */
  async function deploy(steps: string): Promise<void> {
    for (let node = 0; node < cluster.size; node++) {
      await cluster.front.drain(node)
      await cluster.end(node, 'stop')
      await cluster.start(node, { NODE_OPTIONS: `--import=${NEWER_PROGRAM}`, NEWER_STEPS: steps })
      cluster.front.admit(node)
    }
    await expectLoad()
  }

  /** Waits until the load has gone on for a while, and asserts that nothing was wrong. */
  async function expectLoad(): Promise<void> {
    const target = load.answers + MORE_ANSWERS
    await until('the load goes on', () => load.answers > target || load.problems.length > 0)
    assert.deepEqual(load.problems.slice(0, MAX_SHOWN), [])
  }

  const version = async (): Promise<number> => Number((await cluster.rows('select version from schema_version'))[0])

  it('goes on while a step adds something and one takes away, which waits for the last older node', async () => {
    for (const steps of RELEASES) await deploy(steps)
    await until('the steps have run', async () => (await version()) === MIGRATIONS.length + 2)
    await expectLoad()
  })

  it('told its sockets every event once, in order', async () => {
    load.isOver = true
    await loading
    const [row = ''] = await cluster.rows(
      `select max(last_seq) from account_logs where trader = '${cluster.chain.account('trader-1').address}'`,
    )
    const first = reader.events[0]!.seq
    await until('it has everything', () => reader.events.at(-1)!.seq >= Number(row))
    assert.deepEqual(reader.snapshots, [])
    // What expires later is told later.
    const read = reader.events.map(({ seq }) => seq).filter((seq) => seq <= Number(row))
    const seqs = read.toSorted((a, b) => a - b)
    assert.deepEqual(
      seqs,
      Array.from({ length: Number(row) - first + 1 }, (_, at) => first + at),
    )
    assert.ok(reader.connections() > 1, 'its node was replaced')
  })
})
