import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  MAX_REORG_DEPTH,
  addPoint,
  addRecord,
  checkpointDue,
  createHistory,
  dropPointsAfter,
  takeRecordsAbove,
  type History,
  type RestorePoint,
} from './history.ts'
import { toQuantity, toWord } from './jsonRpc.ts'

function addBlocks(history: History, count: number, transactions = 0): void {
  for (let added = 0; added < count; added += 1) {
    const number = (history.records.at(-1)?.number ?? history.points.at(-1)?.height ?? 0) + 1
    if (checkpointDue(history)) addPoint(history, point(number - 1))
    const rawTransactions = Array.from({ length: transactions }, () => '0x00' as const)
    addRecord(history, { number, hash: toWord(number), timestampS: 0, prevRandao: '0x', rawTransactions })
  }
}

function point(height: number, id?: number): RestorePoint {
  const user =
    id === undefined
      ? undefined
      : { id: toQuantity(id), pending: [], cheats: [], clock: { offsetS: 0, nextS: undefined } }
  return { snapshotId: toQuantity(height), height, user }
}

test('however long the chain is, few blocks and few checkpoints are kept', () => {
  const history = createHistory()
  for (let hundred = 0; hundred < 50; hundred += 1) {
    addBlocks(history, 100)
    assert.ok(history.records.length <= 2 * MAX_REORG_DEPTH)
    assert.ok(history.points.length <= 4)
  }
  assert.ok(history.records.length >= MAX_REORG_DEPTH)
})

test('there is always a checkpoint right below the oldest block kept', () => {
  const history = createHistory()
  for (let added = 0; added < 400; added += 1) {
    addBlocks(history, 1)
    const oldest = history.records[0]?.number ?? 0
    assert.ok(history.points.some(({ height }) => height === oldest - 1))
  }
})

test('many transactions bring the next checkpoint nearer', () => {
  const history = createHistory()
  addBlocks(history, 1)
  assert.equal(checkpointDue(history), false)
  addBlocks(history, 10, 100)
  assert.equal(checkpointDue(history), true)
})

test('state setters go with the next block', () => {
  const history = createHistory()
  history.cheats.push({ method: 'hardhat_setBalance', params: [] })
  addBlocks(history, 2)
  assert.deepEqual(
    history.records.map(({ cheats }) => cheats.length),
    [1, 0],
  )
})

test('records above a height are taken out, places after one are forgotten', () => {
  const history = createHistory()
  addBlocks(history, 10)
  assert.deepEqual(
    takeRecordsAbove(history, 7).map(({ number }) => number),
    [8, 9, 10],
  )
  assert.deepEqual(takeRecordsAbove(history, 7), [])
  const kept = point(7, 1)
  addPoint(history, kept)
  addPoint(history, point(7, 2))
  dropPointsAfter(history, kept)
  assert.equal(history.points.at(-1), kept)
})

test('user snapshots are bounded: the oldest is forgotten, checkpoints stay', () => {
  const history = createHistory()
  addBlocks(history, 1)
  for (let id = 1; id <= 1_001; id += 1) addPoint(history, point(1, id))
  const users = history.points.filter(({ user }) => user !== undefined)
  assert.deepEqual([users.length, users[0]?.user?.id, history.points.length], [1_000, '0x2', 1_001])
})
