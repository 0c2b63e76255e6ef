import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parseAddress } from '@bezel/protocol'
import fc from 'fast-check'
import { MAX_JSON_DEPTH, parseStrictJson } from '../../json/parseStrictJson.ts'
import { MalformedEnvelope, parseEnvelope, readEnvelope } from './envelope.ts'

const VAULT = '0x1719884eb866cb12b2287399b15f7db5e7d775ea'

const GOOD = { action: { type: 'noop' }, nonce: 1_731_628_800_000, signature: { r: '0x1', s: '0x2', v: 27 } }

const parse = (text: string) => parseEnvelope(Buffer.from(text))

const parseWith = (changes: object) => parse(JSON.stringify({ ...GOOD, ...changes }))

const parseAction = (text: string) =>
  parse(`{"action":${text},"nonce":1,"signature":{"r":"0x1","s":"0x2","v":27}}`).action

const refused = (text: string, fault: RegExp = /./) =>
  assert.throws(
    () => parse(text),
    (error) => {
      assert.ok(error instanceof MalformedEnvelope, String(error))
      assert.match(error.message, /^Failed to deserialize the JSON body into the target type: /)
      assert.match(error.message, fault)
      return true
    },
    text.slice(0, 200),
  )

const refusedWith = (changes: object, fault?: RegExp) => refused(JSON.stringify({ ...GOOD, ...changes }), fault)

const refusedAction = (text: string, fault?: RegExp) =>
  refused(`{"action":${text},"nonce":1,"signature":{"r":"0x1","s":"0x2","v":27}}`, fault)

describe('parseEnvelope', () => {
  it('keeps the order of keys, deep inside too', () => {
    const text = '{"z":1,"type":"order","b":{"y":[{"d":1,"c":2}],"x":null},"a":"é\\ud83d\\ude00"}'
    assert.equal(JSON.stringify(parseAction(text)), JSON.stringify(JSON.parse(text)))
    assert.deepEqual(Object.keys(parseAction(text)), ['z', 'type', 'b', 'a'])
  })

  it('pads r and s that lost their leading zeros', () => {
    const { signature } = parseWith({ signature: { r: '0xabc', s: `0x${'F'.repeat(63)}`, v: 28 } })
    assert.deepEqual(signature, { r: `0x${'abc'.padStart(64, '0')}`, s: `0x0${'F'.repeat(63)}`, v: 28 })
  })

  it('takes v in both of its forms', () => {
    const vOf = (v: number): number => parseWith({ signature: { r: '0x1', s: '0x2', v } }).signature.v
    assert.deepEqual([0, 1, 27, 28].map(vOf), [27, 28, 27, 28])
  })

  it('refuses other signatures', () => {
    for (const v of [2, 26, 29, 35, -1, 27.5, '27', '0x1b', null, true, undefined]) {
      refusedWith({ signature: { r: '0x1', s: '0x2', v } }, /signature\.v/)
    }
    const parts = [
      '',
      '0x',
      'abc',
      `0x${'1'.repeat(65)}`,
      '0xg',
      '0X1',
      '0x1\n',
      ' 0x1',
      1,
      null,
      undefined,
      '0x\u0130',
    ]
    for (const r of parts) refusedWith({ signature: { r, s: '0x2', v: 27 } }, /signature\.r/)
    for (const s of parts) refusedWith({ signature: { r: '0x1', s, v: 27 } }, /signature\.s/)
    for (const signature of [null, undefined, [], 'x', 1, {}, `0x${'1'.repeat(130)}`]) refusedWith({ signature })
  })

  it('reads a vault with and without 0x, in any case, and null as none', () => {
    const vault = parseAddress(VAULT)
    for (const text of [VAULT, VAULT.slice(2), VAULT.toUpperCase().replace('0X', '0x'), VAULT.slice(2).toUpperCase()]) {
      assert.equal(parseWith({ vaultAddress: text }).vaultAddress, vault)
    }
    for (const none of [{}, { vaultAddress: null }]) assert.equal(parseWith(none).vaultAddress, null)
    for (const text of [
      '',
      '0x',
      VAULT.slice(1),
      `${VAULT}0`,
      `0x${VAULT}`,
      VAULT.slice(0, -1),
      'me',
      0,
      false,
      {},
      [],
    ]) {
      refusedWith({ vaultAddress: text }, /vaultAddress/)
    }
  })

  it('tells no expiry from an expiry of 0', () => {
    assert.equal(parseWith({}).expiresAfter, null)
    assert.equal(parseWith({ expiresAfter: null }).expiresAfter, null)
    assert.equal(parseWith({ expiresAfter: 0 }).expiresAfter, 0)
    assert.equal(parseWith({ expiresAfter: 1_731_628_860_000 }).expiresAfter, 1_731_628_860_000)
    for (const expiresAfter of [-1, 1.5, 2 ** 53, '0', '', false, {}, []]) refusedWith({ expiresAfter }, /expiresAfter/)
  })

  it('takes only whole nonces that a double holds', () => {
    assert.equal(parseWith({ nonce: Number.MAX_SAFE_INTEGER }).nonce, Number.MAX_SAFE_INTEGER)
    for (const nonce of [-1, 0.5, 2 ** 53, 1e300, '1', null, undefined, {}, []]) refusedWith({ nonce }, /nonce/)
  })

  it('needs an action with a type', () => {
    for (const action of [undefined, null, 'order', 1, [], [{ type: 'order' }], {}, { type: 1 }, { type: null }]) {
      refusedWith({ action }, /action/)
    }
    for (const text of ['null', '1', '[]', '"x"', 'true']) refused(text, /envelope must be an object/)
  })

  it('ignores fields it does not know', () => assert.equal(parseWith({ isFrontend: true }).action.type, 'noop'))

  it('refuses keys given twice and __proto__, wherever they are', () => {
    refused('{"nonce":1,"nonce":2}', /twice/)
    refusedAction('{"type":"noop","type":"order"}', /twice/)
    refusedAction('{"type":"order","orders":[{"a":1,"\\u0061":2}]}', /twice/)
    refusedAction('{"type":"noop","__proto__":{"a":1}}', /not allowed/)
    refusedAction('{"type":"noop","x":{"__proto__":null}}', /not allowed/)
    refused('{"__proto__":{"nonce":1}}', /not allowed/)
  })

  it('takes names of every object as plain keys', () => {
    const action = parseAction('{"type":"noop","constructor":1,"toString":"x","hasOwnProperty":true}')
    assert.deepEqual(Object.keys(action), ['type', 'constructor', 'toString', 'hasOwnProperty'])
  })

  it('refuses numbers that two programs hash differently', () => {
    for (const text of [
      '0.5',
      '-1.25',
      '1e-3',
      '9007199254740992',
      '-9007199254740992',
      '1e300',
      '18446744073709551615',
      '1e999',
    ]) {
      refusedAction(`{"type":"order","n":${text}}`)
      refusedAction(`{"type":"order","orders":[{"a":[${text}]}]}`)
    }
    assert.equal(parseAction('{"type":"x","n":9007199254740991}').n, Number.MAX_SAFE_INTEGER)
    assert.equal(parseAction('{"type":"x","n":-9007199254740991}').n, -Number.MAX_SAFE_INTEGER)
    refusedAction('{"type":"order","orders":[{"a":0.5}]}', /action\.orders\[0\]\.a must be a whole number/)
  })

  it('refuses keys whose order an object would not keep', () => {
    refusedAction('{"type":"x","b":1,"1":2}', /key that is a number/)
    refusedAction('{"type":"x","b":{"0":1}}', /key that is a number/)
    assert.deepEqual(Object.keys(parseAction('{"b":1,"type":"x","01":2,"-1":3,"1a":4}')), [
      'b',
      'type',
      '01',
      '-1',
      '1a',
    ])
  })

  it('refuses depth bombs, bad text and bad UTF-8', () => {
    for (const depth of [MAX_JSON_DEPTH, 1_000, 30_000]) {
      refusedAction(`{"type":"x","n":${'['.repeat(depth)}${']'.repeat(depth)}}`, /nested/)
      refused('{"action":'.repeat(depth + 1), /nested/)
    }
    for (const text of ['', ' ', '{', '{"action"', 'nope', '\ufeff{}', `${JSON.stringify(GOOD)}x`]) refused(text)
    refusedAction('{"type":"\\ud800"}', /surrogate/)
    assert.throws(() => parseEnvelope(Buffer.from([0x7b, 0xff, 0x7d])), MalformedEnvelope)
  })

  it('reads the same envelope from JSON that was parsed already', () => {
    const text = JSON.stringify({ ...GOOD, vaultAddress: VAULT })
    assert.deepEqual(readEnvelope(parseStrictJson(text)), parse(text))
  })

  it('answers any JSON and any bytes with an envelope or a MalformedEnvelope', () => {
    const isAnswered = (bytes: Uint8Array): void => {
      try {
        parseEnvelope(bytes)
      } catch (error) {
        assert.ok(error instanceof MalformedEnvelope, String(error))
      }
    }
    const anyField = fc.oneof(fc.jsonValue(), fc.constant(GOOD.action), fc.constant(GOOD.signature), fc.constant(1))
    const anyEnvelope = fc.record(
      { action: anyField, nonce: anyField, signature: anyField, vaultAddress: anyField, expiresAfter: anyField },
      { requiredKeys: [] },
    )
    fc.assert(
      fc.property(anyEnvelope, (value) => isAnswered(Buffer.from(JSON.stringify(value)))),
      { numRuns: 2_000 },
    )
    fc.assert(fc.property(fc.uint8Array(), isAnswered), { numRuns: 2_000 })
  })
})
