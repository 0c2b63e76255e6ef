import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { diamondAbi, type Order, type Position } from '@bezel/protocol'
import { call } from '@bezel/testkit/agentClient.ts'
import type { TradingClient } from '@bezel/testkit/tradingClient.ts'
import { until } from '@bezel/testkit/until.ts'
import { numberToHex } from 'viem'
import type { Lie } from '../outages/faultyProxy.ts'
import { startOutageWorld, type OutageWorld } from '../outages/outageWorld.ts'

const MARKET = { market: 'BTC/USD', side: 'long', type: 'market', size: '0.02', leverage: '10' }

interface RpcEntry {
  readonly id: number
  readonly method?: string
  readonly params?: readonly unknown[]
  readonly result?: Readonly<Record<string, unknown>>
}

describe('a chain with the finalized tag', () => {
  let world: OutageWorld
  let client: TradingClient
  /** Number of the block that the node calls final. */
  let named: number

  before(async () => {
    world = await startOutageWorld({}, { entry: { finality: 'tag' }, local: { DEVNET_BLOCK_MS: '1000' } })
    client = await world.clientOf('trader-1', 'agent-1')
    named = await headNumber()
    world.node.fault = { kind: 'lies', lie: nameFinal }
  })
  after(() => world?.stop())

  /** Answers as the node does, but for the number of the final block. */
  const nameFinal: Lie = async (asked, honest) => {
    const calls = [JSON.parse(asked) as RpcEntry | RpcEntry[]].flat()
    const isTag = ({ params }: RpcEntry): boolean => params?.[0] === 'finalized'
    const asks = new Set(calls.filter(isTag).map(({ id }) => id))
    const text = await honest()
    if (asks.size === 0) return { text }
    const answers = JSON.parse(text) as readonly RpcEntry[]
    const changed = answers.map((answer) =>
      asks.has(answer.id) ? { ...answer, result: { ...answer.result, number: numberToHex(named) } } : answer,
    )
    return { text: JSON.stringify(changed) }
  }

  const headNumber = async (): Promise<number> => Number(await world.chain.client.getBlockNumber({ cacheTime: 0 }))

  async function metric(name: string): Promise<number> {
    const text = await (await fetch(`${world.service.url}/metrics`)).text()
    return Number(new RegExp(`^${name}\\{[^}]*\\} (\\S+)$`, 'm').exec(text)?.[1])
  }

  async function untilFollowed(number: number): Promise<void> {
    await until(`block ${number} is followed`, async (saw) => {
      const head = await metric('bezel_chain_head_block')
      saw(head)
      return head >= number
    })
  }

  async function untilFinal(number: number): Promise<void> {
    await until(`block ${number} is final`, async (saw) => {
      const final = await metric('bezel_chain_final_block')
      saw(final)
      return final === number
    })
  }

  async function mine(blocks: number): Promise<void> {
    await world.chain.control('hardhat_mine', blocks)
    await untilFollowed(await headNumber())
  }

  /** Reads the positions. A busy machine's service may say for a moment that it lags. */
  function positions(): Promise<Position[]> {
    return until('the positions are told', async (saw) => {
      const { status, body } = await client.account('/positions', 'listPositions')
      saw(body)
      return status === 200 ? (body.data as Position[]) : undefined
    })
  }

  /** Returns the trader's trades as the Diamond has them. */
  function trades(): Promise<readonly unknown[]> {
    return world.chain.client.readContract({
      address: world.chain.diamond,
      abi: diamondAbi,
      functionName: 'getTrades',
      args: [client.trader.address],
    })
  }

  const isFilled = ({ status }: Order): boolean => status === 'filled'

  it('undoes a fill of seventy blocks ago, because the node does not call it final', async () => {
    await untilFinal(named)
    const start = await headNumber()
    const order = await client.trade(MARKET, 'filled')
    const [position] = await positions()
    assert.equal(position?.id, order.fill?.positionId)
    await mine(70)
    assert.equal(await metric('bezel_chain_final_block'), named)
    // With its request, which would be executed again otherwise.
    await world.chain.control('bezel_reorgFrom', start + 1, 'drop')
    const undone = await client.orderOnce(order.id, (now) => !isFilled(now))
    assert.equal(undone.fill, null)
    await until('the position is gone, as on the chain', async () => (await positions()).length === 0)
    assert.deepEqual(await trades(), [])
    await until('the service is ready', async () => (await call(world.service.url, '/ready')).status === 200)
  })

  it('undoes the newest blocks whatever the node calls final', async () => {
    named = 2 ** 40
    await until('the node is believed as far as it can be', async () => {
      const [final, head] = [await metric('bezel_chain_final_block'), await metric('bezel_chain_head_block')]
      return head - final < 50
    })
    const order = await client.trade(MARKET, 'filled')
    await world.chain.control('bezel_reorg', 5, 'remine')
    await mine(10)
    await client.orderOnce(order.id, isFilled)
    assert.equal((await positions()).length, (await trades()).length)
    assert.equal((await call(world.service.url, '/ready')).status, 200)
  })

  it('stops where the node replaces what it called final', async () => {
    named = await headNumber()
    await mine(20)
    await untilFinal(named)
    await mine(1)
    await world.chain.control('bezel_reorgFrom', named - 4, 'drop')
    await until('the chain stops', async (saw) => {
      const { status, body } = await call(world.service.url, '/ready')
      saw(body)
      return status === 503 && JSON.stringify(body).includes('reorg_too_deep')
    })
  })
})
