import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ExchangeErr } from './exchangeErr.ts'
import { parseAgentName } from './parseAgentName.ts'

describe('parseAgentName', () => {
  it('reads the expiry behind the name', () => {
    const expected: readonly [string, string, number | null][] = [
      ['', '', null],
      ['bot', 'bot', null],
      ['bot valid_until 1767225600000', 'bot', 1_767_225_600_000],
      ['my bot valid_until 1', 'my bot', 1],
      ['valid_until 5', '', 5],
      [' valid_until 5', '', 5],
      ['a valid_until 5 valid_until 6', 'a valid_until 5', 6],
      ['two\nlines valid_until 6', 'two\nlines', 6],
    ]
    for (const [text, name, expiresAt] of expected) assert.deepEqual(parseAgentName(text), { name, expiresAt }, text)
  })

  it('takes what only looks like an expiry as part of the name', () => {
    for (const name of [
      'botvalid_until 5',
      'valid_until',
      'bot valid_until ',
      'bot valid_until x',
      'bot valid_until -5',
      'bot valid_until 5 ',
      'Bot VALID_UNTIL 5',
    ]) {
      assert.deepEqual(parseAgentName(name), { name, expiresAt: null })
    }
  })

  it('refuses names that are too long and times that can not be', () => {
    assert.equal(parseAgentName(`${'x'.repeat(32)} valid_until 5`).name.length, 32)
    assert.throws(() => parseAgentName('x'.repeat(33)), ExchangeErr)
    assert.throws(() => parseAgentName(`${'x'.repeat(33)} valid_until 5`), ExchangeErr)
    for (const digits of ['0', '9007199254740992', '9'.repeat(400)]) {
      assert.throws(() => parseAgentName(`bot valid_until ${digits}`), /valid_until must be a time/)
    }
  })
})
