import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { reclaimAdvice, rightsAdvice, spellCommands } from './advice.ts'

const TYPING = { program: 'npx bezel', options: ['--as trader-2', '--keystore ./bot.json'] }

describe('the commands of remedies', () => {
  it('get the options that were typed, once each, and lose their backquotes', () => {
    const text = 'Try `bezel orders`, or `bezel agent authorise --keystore other.json`'
    assert.equal(
      spellCommands(text, TYPING),
      'Try npx bezel orders --as trader-2 --keystore ./bot.json, or npx bezel agent authorise --keystore other.json --as trader-2',
    )
    assert.equal(spellCommands(text), 'Try bezel orders, or bezel agent authorise --keystore other.json')
  })

  it('can be kept together where lines are broken', () => {
    const spelled = spellCommands('Try `bezel orders`', TYPING, '_')
    assert.equal(spelled, 'Try npx_bezel_orders_--as_trader-2_--keystore_./bot.json')
  })

  it('leave other text in backquotes alone', () => {
    assert.equal(spellCommands('`details.delegationTx` of `bezelled`', TYPING), '`details.delegationTx` of `bezelled`')
  })

  it('stand at the end of a sentence without a point, which would be pasted too', () => {
    assert.match(reclaimAdvice('3'), /`bezel reclaim 3`$/)
    assert.match(rightsAdvice('SCOPE_READ_ONLY', {})!, /`bezel agent authorise \.\.\.`$/)
  })
})

describe('rightsAdvice', () => {
  it('names the option that gives the right, with its value', () => {
    const wanted = { markets: ['BTC/USD', 'ETH/USD'], leverage: '50', capUsd: '1200' }
    const commandOf = (code: string): string | undefined => /: `(.*)`$/.exec(rightsAdvice(code, wanted) ?? '')?.[1]
    assert.equal(commandOf('SCOPE_MARKET_NOT_ALLOWED'), 'bezel agent authorise --markets BTC/USD,ETH/USD ...')
    assert.equal(commandOf('SCOPE_LEVERAGE_EXCEEDED'), 'bezel agent authorise --max-leverage 50 ...')
    assert.equal(commandOf('SCOPE_SPEND_CAP_EXCEEDED'), 'bezel agent authorise --daily-cap 1200 ...')
    assert.equal(commandOf('AGENT_EXPIRED'), 'bezel agent authorise --expires 30d ...')
    assert.equal(rightsAdvice('MARKET_CLOSED', wanted), undefined)
    assert.equal(rightsAdvice('toString', wanted), undefined)
  })
})
