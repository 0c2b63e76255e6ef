import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import type { AgentScope } from '@bezel/protocol'
import fc from 'fast-check'
import { migrate } from './openStore.ts'
import { encodeScope, scopeDecoder } from './scopeStore.ts'
import type { Store } from './sql.ts'
import { openMemoryStore } from './testing/memoryStore.ts'
import { TEST_SCOPE } from './testing/testScope.ts'

const SCOPE: AgentScope = {
  markets: ['ETH/USD', 'BTC/USD'],
  maxLeverage: '10',
  dailySpendCapUsd: null,
  expiresAt: null,
  permissions: 'trade',
}

describe('stored scopes', () => {
  let store: Store

  beforeEach(async () => {
    store = openMemoryStore()
    await migrate(store)
  })
  afterEach(() => store.close())

  const encode = (scope: AgentScope): Promise<string> => store.transaction(TEST_SCOPE, (sql) => encodeScope(sql, scope))
  const decode = async (text: string): Promise<AgentScope> => (await scopeDecoder(store.read, [text]))(text)

  it('come back as they were, with their markets in the same order', async () => {
    const symbol = fc.integer({ min: 0, max: 5_000 }).map((at) => `M${at}/USD`)
    const scope = fc.record({
      markets: fc.oneof(fc.constant('all' as const), fc.uniqueArray(symbol, { minLength: 1, maxLength: 64 })),
      maxLeverage: fc.option(fc.constantFrom('1', '150.5')),
      dailySpendCapUsd: fc.option(fc.constantFrom('0', '1000000')),
      expiresAt: fc.option(fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER })),
      permissions: fc.constantFrom('trade' as const, 'read' as const),
    })
    await fc.assert(
      fc.asyncProperty(scope, async (given) => assert.deepEqual(await decode(await encode(given)), { ...given })),
      { numRuns: 300 },
    )
  })

  it('take two characters for a market, however long its symbol', async () => {
    const symbols = Array.from({ length: 64 }, (_, at) => `LONGESTSYMBOL${10 + at}/QUOTEQUOTE`)
    assert.ok((await encode({ ...SCOPE, markets: symbols })).length < 180)
  })

  it('name more markets than have a number by their symbols', async () => {
    const symbols = Array.from({ length: 4_200 }, (_, at) => `M${at}/USD`)
    for (let at = 0; at < symbols.length; at += 60) {
      const given = { ...SCOPE, markets: symbols.slice(at, at + 60) }
      assert.deepEqual(await decode(await encode(given)), given)
    }
  })

  it('are read as they were stored before', async () => {
    assert.deepEqual(await decode(JSON.stringify(SCOPE)), SCOPE)
    assert.deepEqual(await decode(JSON.stringify({ ...SCOPE, markets: 'all' })), { ...SCOPE, markets: 'all' })
  })

  it('give a number to no market whose registration failed', async () => {
    const failed = store.transaction(TEST_SCOPE, async (sql) => {
      await encodeScope(sql, { ...SCOPE, markets: ['GONE/USD'] })
      throw new Error('refused')
    })
    await assert.rejects(failed, /refused/)
    assert.deepEqual(await decode(await encode(SCOPE)), SCOPE)
  })
})
