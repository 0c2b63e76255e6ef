import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, beforeEach, describe, it } from 'node:test'
import { ApiError } from '@bezel/protocol'
import { startPostgres, type RunningPostgres } from '@bezel/testkit/startPostgres.ts'
import { startProxy, type TcpProxy } from '@bezel/testkit/startProxy.ts'
import { until } from '@bezel/testkit/until.ts'
import type { FastifyInstance } from 'fastify'
import { installPostgres } from '../../../../../scripts/installPostgres.ts'
import { createInProcessLimits } from '../../access/inProcessLimits.ts'
import { claimLine } from '../../access/nonceFile.ts'
import { nonceKey } from '../../access/nonceMemory.ts'
import { openSharedNonces, type StoredNonces } from '../../access/nonces.ts'
import { AGENT, CHAIN } from '../../access/testing/testNonces.ts'
import { migrate } from '../../store/openStore.ts'
import { openPostgres } from '../../store/postgres.ts'
import type { Store } from '../../store/sql.ts'
import { TEST_SCOPE } from '../../store/testing/testScope.ts'
import { createApp } from '../createApp.ts'
import { claimOfWrite } from './noncesOfWrites.ts'
import { registerHooks } from './registerHooks.ts'

describe('nonces of writes on a store that nodes share', () => {
  let server: RunningPostgres
  let proxy: TcpProxy
  let store: Store
  let nonces: StoredNonces
  let app: FastifyInstance
  let nonce = 0

  before(async () => {
    installPostgres()
    server = await startPostgres()
    await server.createDatabase('writes')
    proxy = await startProxy(server.port)
    const bounds = { connections: 4, statementMs: 60_000, idleTransactionMs: 60_000 }
    store = openPostgres({ url: server.urlOf('writes', proxy.port), ...bounds })
    await migrate(store)
    nonces = await openSharedNonces({ store, file: '/nowhere/nonces.log', now: Date.now })
    app = appOf()
  })
  after(async () => {
    await app?.close()
    await store?.close()
    await proxy?.close()
    await server?.remove()
  })
  beforeEach(() => void (nonce += 1))

  /** Returns a service whose one route is a write that ends in the way that its path says. */
  function appOf(): FastifyInstance {
    const made = createApp('silent')
    const limits = createInProcessLimits()
    registerHooks(made, { limits, limit: 1_000, trustedProxies: 0, now: Date.now, nonces })
    made.get('/:end', async (request) => {
      const signed = { chain: CHAIN, agent: AGENT, nonce: String(nonce), timestampMs: Date.now() } as const
      const claim = claimOfWrite(request, nonces, signed)
      const { end } = request.params as { end: string }
      if (end === 'early') throw new ApiError('SCOPE_READ_ONLY', 'refused before the transaction')
      if (end === 'nothing') return { did: 'nothing' }
      return store.transaction(TEST_SCOPE, async (sql) => {
        if (!(await claim(sql))) throw new ApiError('NONCE_REUSED', 'used')
        if (end === 'late') throw new ApiError('ORDER_NOT_MODIFIABLE', 'refused in the transaction')
        return { did: 'something' }
      })
    })
    return made
  }

  const ask = async (end: string): Promise<string> => {
    const answer = await app.inject(`/${end}`)
    return answer.statusCode === 200 ? answer.json().did : answer.json().code
  }

  for (const [end, first] of [
    ['something', 'something'],
    ['early', 'SCOPE_READ_ONLY'],
    ['late', 'ORDER_NOT_MODIFIABLE'],
    ['nothing', 'nothing'],
  ] as const) {
    it(`are used up by a write that ends with ${first}`, async () => {
      assert.equal(await ask(end), first)
      assert.equal(await ask('something'), 'NONCE_REUSED')
      for (const other of ['nothing', 'early', 'late']) assert.equal(await ask(other), 'NONCE_REUSED')
      const rows = await store.read.all('select 1 from nonces where nonce = $1', String(nonce))
      assert.equal(rows.length, 1)
    })
  }

  it('are taken along from the file of a process that was alone with its data', async () => {
    const file = join(mkdtempSync(join(tmpdir(), 'bezel-nonces-')), 'nonces.log')
    const lines = [0, 10_000, 3_600_000].map((agoMs, at) =>
      claimLine({ key: nonceKey(CHAIN, AGENT, `900${at}`), timestampMs: Date.now() - agoMs }),
    )
    writeFileSync(file, lines.join(''))
    const taken = await openSharedNonces({ store, file, now: Date.now })
    const useUp = (of: string): Promise<boolean> | undefined =>
      taken.useUp?.({ chain: CHAIN, agent: AGENT, nonce: of, timestampMs: Date.now() })
    assert.deepEqual([await useUp('9000'), await useUp('9001'), await useUp('9002')], [false, false, true])
    rmSync(dirname(file), { recursive: true })
  })

  it('are told to be unkept when the store is away, and can then be used', async () => {
    proxy.cut()
    proxy.ignoreNew()
    const answer = await app.inject('/early')
    assert.deepEqual([answer.statusCode, answer.json().details.reason], [503, 'store_unavailable'])
    proxy.resume()
    proxy.cut()
    // A busy machine may be too slow for a connection.
    await until('the store is back', async (saw) => {
      const outcome = await ask('something')
      saw(outcome)
      return outcome === 'something'
    })
  })
})
