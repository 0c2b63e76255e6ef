import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { env } from 'node:process'
import { after, before, describe, it } from 'node:test'
import { openLiveDeployment, type LiveDeployment, type ProgramRun } from './liveDeployment.ts'

/** Rounds of simultaneous starts. */
const ROUNDS = Number(env['CAMPAIGN'] ?? 2)

const IN_USE = /^The data folder \S+ is in use by another service: stop that one first, or set BEZEL_DATA [^\n]+\n$/

const SIGNALS = ['SIGKILL', 'SIGTERM'] as const

/** Ends of the first service and of the one after it, in every order. */
const ORDERS = SIGNALS.flatMap((first) => SIGNALS.map((second) => [first, second] as const))

describe('two services on one data folder', () => {
  let live: LiveDeployment

  before(async () => {
    live = await openLiveDeployment()
  })
  after(() => live?.close())

  async function serves(): Promise<ProgramRun> {
    const service = await live.serve()
    assert.equal(service.refusal, undefined)
    return service
  }

  async function isRefused(): Promise<void> {
    assert.match((await live.serve()).refusal ?? 'it serves', IN_USE)
  }

  for (const [first, second] of ORDERS) {
    it(`are one at a time when the first ends by ${first} and the second by ${second}`, async () => {
      const a = await serves()
      await isRefused()
      await a.end(first)
      const b = await serves()
      await isRefused()
      await b.end(second)
    })
  }

  it('are one when they start at the same moment, also right after the last one was killed', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const started = await Promise.all([live.serve(), live.serve(), live.serve()])
      const winners = started.filter(({ refusal }) => refusal === undefined)
      assert.equal(winners.length, 1)
      for (const { refusal } of started) if (refusal !== undefined) assert.match(refusal, IN_USE)
      await isRefused()
      await winners[0]!.end('SIGKILL')
    }
  })

  it('are one at a time also when the lock file is deleted under the first', async () => {
    const a = await serves()
    rmSync(`${live.folder}/data/bezel.lock`)
    for (const _ of [1, 2]) {
      const { refusal } = await live.serve()
      assert.match(refusal ?? 'it serves', /^The database \S+bezel\.db is open in another program, [^\n]+\n$/)
    }
    await a.end('SIGKILL')
    const b = await serves()
    await isRefused()
    await b.end('SIGTERM')
  })

  it('may both run on folders of their own', async () => {
    const [a, b] = [await serves(), await live.serve({ BEZEL_DATA: `${live.folder}/other` })]
    assert.equal(b.refusal, undefined)
    for (const service of [a, b]) await service.end('SIGTERM')
  })
})
