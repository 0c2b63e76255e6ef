import { deepEqual } from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import type { FillHistoryEntry, Hex } from '@bezel/protocol'
import { until } from '@bezel/testkit/until.ts'
import { insertFill } from '../../store/fillStore.ts'
import { sampleFill } from '../../store/testing/sampleFill.ts'
import { answerInfo } from '../info/infoTypes.ts'
import { ALICE } from '../testing/facadeWorld.ts'
import { HASH } from '../testing/restingOrder.ts'
import { startFacadeStream, type FacadeClient, type FacadeStreamWorld } from './testing/facadeStreamWorld.ts'
import { TEST_SCOPE } from '../../store/testing/testScope.ts'

const USER = ALICE.toLowerCase()

const HELD: Partial<FillHistoryEntry> = { action: 'TradePosSizeDecrease', fundingFee: '0.25', netPnl: '-1.15' }

const REFUSED: Partial<FillHistoryEntry> = { action: 'TradeOpenRefused', size: '0' }

describe('userFundings and userNonFundingLedgerUpdates', () => {
  let world: FacadeStreamWorld
  let client: FacadeClient
  let nextId = 1

  beforeEach(async () => {
    world = await startFacadeStream()
    client = await world.connect()
    nextId = 1
  })
  afterEach(async () => {
    deepEqual(world.errors, [])
    await world.close()
  })

  const info = async (type: string) => JSON.parse(String(await answerInfo({ type, user: USER }, world.facade.reads)))

  async function store(changes: Partial<FillHistoryEntry>): Promise<void> {
    const id = nextId++
    const blockHash = `0x${id.toString(16).padStart(64, '0')}` as Hex
    const place = { blockHash, blockNumber: id, logIndex: 0, txHash: HASH, timestampMs: 1_000 + id }
    const of = { chain: 'base', trader: ALICE, pairIndex: 0, place, fill: sampleFill(id, changes) } as const
    await world.facade.opened.store.transaction(TEST_SCOPE, (sql) => insertFill(sql, of))
  }

  it('begin with the last ones and tell each new one once, as /info does', async () => {
    for (const changes of [{}, HELD, REFUSED]) await store(changes)
    await client.subscribe({ type: 'userFundings', user: USER })
    await client.subscribe({ type: 'userNonFundingLedgerUpdates', user: USER })
    await until('both begin', () => client.dataOf('userNonFundingLedgerUpdates').length === 1)
    const [funding] = await info('userFunding')
    const { type: _type, ...delta } = funding.delta
    deepEqual(client.dataOf('userFundings'), [
      { isSnapshot: true, user: USER, fundings: [{ time: funding.time, ...delta }] },
    ])
    const nonFundingLedgerUpdates = await info('userNonFundingLedgerUpdates')
    deepEqual(client.dataOf('userNonFundingLedgerUpdates'), [{ isSnapshot: true, user: USER, nonFundingLedgerUpdates }])
    // An entry without a cost of its own is told by neither.
    for (const changes of [{}, REFUSED]) await store(changes)
    await world.append('positions', [])
    await until('the refusal is told', () => client.dataOf('userNonFundingLedgerUpdates').length === 2)
    deepEqual(client.dataOf('userNonFundingLedgerUpdates')[1], {
      user: USER,
      nonFundingLedgerUpdates: (await info('userNonFundingLedgerUpdates')).slice(1),
    })
    await store(HELD)
    await world.append('positions', [])
    await until('the funding is told', () => client.dataOf('userFundings').length === 2)
  })
})
