import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  formOfScope,
  nameProblem,
  NEW_SCOPE,
  readAgentAddress,
  readScope,
  scopeWarning,
  type ScopeForm,
} from './scopeForm.ts'

const SYMBOLS = ['BTC/USD', 'ETH/USD', 'EUR/USD', 'SOL/USD']

const NOW_MS = Date.UTC(2027, 0, 31, 12)

const TRADER = '0x8e32e79781136104B0dabBA623660d0Ab79875e5'

const read = (changes: Partial<ScopeForm>) =>
  readScope({ ...NEW_SCOPE, ...changes }, { symbols: SYMBOLS, nowMs: NOW_MS })

describe('readScope', () => {
  it('reads the form of a new agent as a scope with every limit', () => {
    assert.deepEqual(read({}), {
      scope: {
        markets: 'all',
        maxLeverage: '20',
        dailySpendCapUsd: '100000',
        expiresAt: NOW_MS + 30 * 86_400_000,
        permissions: 'trade',
      },
      problems: {},
    })
  })

  it('takes empty fields as no limit', () => {
    const { scope } = read({ maxLeverage: '', dailyCapUsd: ' ', expiry: 'never', permissions: 'read' })
    assert.deepEqual(scope, {
      markets: 'all',
      maxLeverage: null,
      dailySpendCapUsd: null,
      expiresAt: null,
      permissions: 'read',
    })
  })

  it('reads markets as people type them, each once', () => {
    assert.deepEqual(read({ markets: 'btc, eth-usd; BTC/USD' }).scope?.markets, ['BTC/USD', 'ETH/USD'])
    assert.equal(read({ markets: 'all' }).scope?.markets, 'all')
  })

  it('says which market does not exist, and guesses what was meant', () => {
    const { scope, problems } = read({ markets: 'BTC/USD, SOLANA' })
    assert.equal(scope, null)
    assert.equal(problems.markets, 'There is no market SOLANA/USD on this chain. Did you mean SOL/USD?')
    assert.match(read({ markets: 'QQQ' }).problems.markets ?? '', /list of markets/)
  })

  it('trusts the names while the markets are not known', () => {
    const { scope } = readScope({ ...NEW_SCOPE, markets: 'xyz' }, { symbols: null, nowMs: NOW_MS })
    assert.deepEqual(scope?.markets, ['XYZ/USD'])
  })

  it('refuses more markets than the service takes', () => {
    const many = Array.from({ length: 65 }, (_, index) => `M${index}`).join(',')
    assert.match(read({ markets: many }).problems.markets ?? '', /At most 64/)
  })

  it('refuses limits that are no number above zero', () => {
    for (const text of ['0', '-1', 'x', '1,5', '1e3']) {
      const { scope, problems } = read({ maxLeverage: text, dailyCapUsd: text })
      assert.equal(scope, null, text)
      assert.match(problems.maxLeverage ?? '', /leverage above 0/)
      assert.match(problems.dailyCapUsd ?? '', /USD above 0/)
    }
  })

  it('wants a date that is to come', () => {
    assert.match(read({ expiry: 'date' }).problems.expiry ?? '', /Choose the date/)
    assert.match(read({ expiry: 'date', expiryDate: '2020-01-01T00:00' }).problems.expiry ?? '', /past/)
    const { scope } = read({ expiry: 'date', expiryDate: '2030-06-01T08:30' })
    assert.equal(scope?.expiresAt, new Date(2030, 5, 1, 8, 30).getTime())
  })
})

describe('formOfScope', () => {
  it('is read again as the same scope', () => {
    const { scope } = read({ markets: 'BTC, ETH', expiry: 'date', expiryDate: '2030-06-01T08:30' })
    assert.ok(scope)
    const again = readScope(formOfScope(scope), { symbols: SYMBOLS, nowMs: NOW_MS })
    assert.deepEqual(again.scope, scope)
    const open = { ...scope, markets: 'all' as const, maxLeverage: null, dailySpendCapUsd: null, expiresAt: null }
    assert.deepEqual(readScope(formOfScope(open), { symbols: SYMBOLS, nowMs: NOW_MS }).scope, open)
  })
})

describe('scopeWarning', () => {
  it('names the limits that are missing, and is silent about a reader', () => {
    const { scope } = read({})
    assert.ok(scope)
    assert.equal(scopeWarning(scope), null)
    const open = { ...scope, maxLeverage: null, expiresAt: null }
    assert.equal(
      scopeWarning(open),
      'This agent has no limit of leverage and no end. It can trade, and it can never withdraw.',
    )
    assert.equal(scopeWarning({ ...open, permissions: 'read' }), null)
  })
})

describe('readAgentAddress', () => {
  it('takes an address with spaces around it, and refuses what can be no agent', () => {
    const address = '0x00000000000000000000000000000000000000A1'
    assert.deepEqual(readAgentAddress(`  ${address.toLowerCase()}\n`, TRADER), { address })
    for (const [text, words] of [
      ['0x12', /40 hexadecimal/],
      [TRADER.toLowerCase(), /your own wallet/],
      [`0x${'0'.repeat(40)}`, /zero address/],
    ] as const) {
      const answer = readAgentAddress(text, TRADER)
      assert.ok('problem' in answer)
      assert.match(answer.problem, words)
    }
  })
})

it('counts the characters of a name', () => {
  assert.equal(nameProblem('x'.repeat(32)), null)
  assert.match(nameProblem('x'.repeat(34)) ?? '', /2 characters too long/)
})
