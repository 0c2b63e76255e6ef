import type { AccountEvent, PendingUpdate, Position } from '@bezel/protocol/wire'
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  PositionUpdateRefusedError,
  PositionUpdateTimedOutError,
  PositionUpdateWaitError,
} from '../errors/positionErrors.ts'
import { BezelNetworkError } from '../errors/serviceErrors.ts'
import { TransactionRevertedError } from '../errors/transactionErrors.ts'
import { createBroadcaster, type Broadcaster } from '../orders/createBroadcaster.ts'
import { waitForReclaim, waitForUpdate } from './waitForUpdate.ts'

const TX_HASH = `0x${'ab'.repeat(32)}` as const

const UPDATE: PendingUpdate = {
  kind: 'leverage',
  leverage: '5',
  collateralDelta: '100',
  txHash: TX_HASH,
  createdAt: 1,
  timesOutAtBlock: 30,
  status: 'pending',
}

const before = { id: '3', leverage: '10', sl: '0', tp: '0', pendingUpdate: null } as Position
const pending: Position = { ...before, pendingUpdate: UPDATE }
const done: Position = { ...before, leverage: '5' }

/** The return of the state before, as a reorganisation logs it. */
const UNDONE = 'undone'

/** Waits over a log that gets one more event, or a failure, with every read. */
function wait(
  told: readonly (readonly Position[] | Error | 'orders' | typeof UNDONE)[],
  of: {
    readonly isAsked?: boolean
    readonly prepared?: Position
    readonly timeoutMs?: number
    readonly watchRevert?: Broadcaster['watchRevert']
  } = {},
): Promise<Position> {
  const log: AccountEvent[] = []
  const left = [...told]
  const { isAsked = true, prepared = before, watchRevert } = of
  const watch = watchRevert === undefined ? {} : { watchRevert }
  const sent = { before, prepared, isAsked, txHash: TX_HASH, after: 7, ...watch }
  const reads = {
    async readPage({ after }: { readonly after: number }) {
      const next = left.shift()
      if (next instanceof Error) throw next
      const seq = 8 + log.length
      const entry = { seq, timestamp: seq, block: seq, reverted: next === UNDONE }
      if (next === UNDONE) log.push({ ...entry, channel: 'positions', data: [before] })
      else if (next === 'orders') log.push({ ...entry, channel: 'orders', data: {} as never })
      else if (next !== undefined) log.push({ ...entry, channel: 'positions', data: [...next] })
      return { data: log.filter((event) => event.seq > after), lastSeq: seq }
    },
    reasonOf: async () => 'It was refused: the price was gone.',
  }
  return waitForUpdate(sent, reads, { pollMs: 1, timeoutMs: of.timeoutMs ?? 5_000 })
}

describe('waiting for a change of a position', () => {
  it('ends when the oracle has answered', async () => {
    assert.deepEqual(await wait([[before], 'orders', [pending], [pending], [done]]), done)
    assert.deepEqual(await wait([[done]]), done, 'request and answer in one step')
    assert.deepEqual(await wait([[pending], UNDONE, [pending], [done]]), done, 'mined again after a reorganisation')
  })

  it('fails when the change was refused or reclaimed, with the reason', async () => {
    await assert.rejects(wait([[pending], [before]]), (error: PositionUpdateRefusedError) => {
      assert.ok(error instanceof PositionUpdateRefusedError)
      assert.deepEqual([error.code, error.positionId, error.position], ['POSITION_UPDATE_REFUSED', before.id, before])
      assert.match(error.message, /the price was gone/)
      return true
    })
    await assert.rejects(wait([[pending], []]), PositionUpdateRefusedError, 'the position is closed')
  })

  it('fails when the change has timed out', async () => {
    const late: Position = { ...before, pendingUpdate: { ...UPDATE, status: 'timed_out' } }
    await assert.rejects(wait([[pending], [late]]), (error: PositionUpdateTimedOutError) => {
      assert.ok(error instanceof PositionUpdateTimedOutError)
      assert.deepEqual(error.pendingUpdate, late.pendingUpdate)
      return true
    })
    const others: Position = { ...before, pendingUpdate: { ...UPDATE, txHash: '0x01', status: 'timed_out' } }
    assert.deepEqual(await wait([[others], [pending], [done]]), done, 'an earlier one that this one reclaims')
  })

  it('waits out an outage, and not for ever', async () => {
    const outage = new BezelNetworkError('NETWORK_ERROR', { method: 'GET', url: '/', what: 'no answer' })
    assert.deepEqual(await wait([outage, [pending], outage, [done]]), done)
    await assert.rejects(wait([[pending]], { timeoutMs: 10 }), PositionUpdateWaitError)
    await assert.rejects(wait([new TypeError('broken')]), TypeError)
  })

  it('fails when the transaction has reverted, unless the log has told more before', async () => {
    const watchRevert = () => async (): Promise<boolean> => true
    const set: Position = { ...before, sl: '50000' }
    for (const change of [{}, { isAsked: false, prepared: set }]) {
      await assert.rejects(wait([[before]], { ...change, watchRevert }), (error: TransactionRevertedError) => {
        assert.ok(error instanceof TransactionRevertedError)
        return error.txHash === TX_HASH
      })
    }
    await assert.rejects(wait([[]], { watchRevert }), PositionUpdateRefusedError, 'the position was closed before it')
  })

  it('goes on when the node does not answer', async () => {
    const isReverted = (): Promise<never> => new Promise(() => undefined)
    const sender = { address: TX_HASH, sendTransaction: async () => TX_HASH, isReverted }
    const { watchRevert } = createBroadcaster(sender, Date.now)
    assert.deepEqual(await wait([[before], [pending], [done]], { watchRevert }), done)
    await assert.rejects(wait([[pending]], { watchRevert, timeoutMs: 10 }), PositionUpdateWaitError)
  })

  it('tells the look at the receipt whether the log was read', async () => {
    const outage = new BezelNetworkError('NETWORK_ERROR', { method: 'GET', url: '/', what: 'no answer' })
    const told: boolean[] = []
    const watchRevert: Broadcaster['watchRevert'] = () => async (of) => told.push(of.isRead) > 2
    await assert.rejects(wait([[before], outage, [before]], { watchRevert }), TransactionRevertedError)
    assert.deepEqual(told, [true, false, true])
  })

  it('ends with the transaction for stops', async () => {
    const set: Position = { ...before, sl: '50000' }
    assert.deepEqual(await wait([[before], [set]], { isAsked: false, prepared: set }), set)
  })
})

describe('waiting for the reclaim of a change', () => {
  const late: Position = { ...before, pendingUpdate: { ...UPDATE, status: 'timed_out' } }
  const reclaim = (told: readonly (readonly Position[])[], timeoutMs = 5_000): Promise<Position | undefined> => {
    const left = told.map((data, place): AccountEvent => ({
      seq: 8 + place,
      timestamp: 1,
      block: 1,
      reverted: false,
      channel: 'positions',
      data: [...data],
    }))
    const readPage = async ({ after }: { readonly after: number }) => ({
      data: left.filter(({ seq }) => seq === after + 1),
      lastSeq: 7 + told.length,
    })
    return waitForReclaim({ before: late, after: 7, txHash: TX_HASH }, readPage, { pollMs: 1, timeoutMs })
  }

  it('ends when the change is gone, whatever became of it', async () => {
    assert.deepEqual(await reclaim([[late], [late], [before]]), before)
    assert.deepEqual(await reclaim([[late], [done]]), done, 'answered after all')
    assert.equal(await reclaim([[late], []]), undefined, 'the position is closed')
    const next: Position = { ...before, pendingUpdate: { ...UPDATE, timesOutAtBlock: 90 } }
    assert.deepEqual(await reclaim([[next]]), next, 'another change follows')
  })

  it('does not last for ever', async () => {
    await assert.rejects(reclaim([[late]], 5), PositionUpdateWaitError)
  })
})
