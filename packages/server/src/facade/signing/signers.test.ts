import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Hex } from '@bezel/protocol'
import { ENGINES } from '../../signatures/testing/engines.ts'
import { hostileSignatures, CURVE_ORDER, wordText } from '../../signatures/testing/hostileSignatures.ts'
import type { SignatureEngine } from '../../signatures/recovery.ts'
import { type Envelope, type ExchangeAction, parseEnvelope } from './envelope.ts'
import { l1SignerCandidates } from './signers.ts'
import { signL1 } from '@bezel/testkit/signEnvelope.ts'
import { VECTOR_KEY, VECTOR_SIGNER } from './testing/vectorSigner.ts'

const [engine] = ENGINES as [SignatureEngine]

const NONCE = 1_731_628_800_000

const item = { a: 0, b: true, p: '68250', s: '0.01', r: false, t: { limit: { tif: 'Ioc' } }, c: '0x01' }

const ORDER: ExchangeAction = { type: 'order', orders: [item], grouping: 'na' }

const sent = (envelope: object): Envelope => parseEnvelope(Buffer.from(JSON.stringify(envelope)))

const candidates = (envelope: Envelope) => [...l1SignerCandidates(engine, envelope, ['b', 'a'])]

const isSigner = (envelope: Envelope): boolean => candidates(envelope).includes(VECTOR_SIGNER as never)

describe('l1SignerCandidates', () => {
  it('names the signer first, whichever of the networks it signed for', () => {
    const first = (envelope: Envelope, sources: readonly ('a' | 'b')[]) =>
      [...l1SignerCandidates(engine, envelope, sources)][0]
    for (const source of ['a', 'b'] as const) {
      const envelope = signL1(VECTOR_KEY, { action: ORDER, nonce: NONCE }, source)
      assert.equal(first(envelope, [source]), VECTOR_SIGNER)
      assert.ok(isSigner(envelope))
      assert.equal(candidates(envelope).length, 2)
      assert.ok(!first(envelope, [source === 'a' ? 'b' : 'a'])?.includes(VECTOR_SIGNER))
    }
  })

  it('recovers no more than it is asked for', () => {
    let recoveries = 0
    const counted: SignatureEngine = {
      name: engine.name,
      recoverPublicKey(...of) {
        recoveries++
        return engine.recoverPublicKey(...of)
      },
    }
    const [first] = l1SignerCandidates(counted, signL1(VECTOR_KEY, { action: ORDER, nonce: NONCE }), ['b', 'a'])
    assert.equal(first, VECTOR_SIGNER)
    assert.equal(recoveries, 1)
  })

  it('takes an action that was signed in its canonical form and sent in another', () => {
    const signed: readonly ExchangeAction[] = [
      ORDER,
      { ...ORDER, builder: { b: '0xab', f: 10 } },
      { type: 'modify', oid: 7, order: item },
      { type: 'batchModify', modifies: [{ oid: 7, order: item }] },
      {
        type: 'order',
        orders: [{ ...item, t: { trigger: { isMarket: true, triggerPx: '61000', tpsl: 'sl' } } }],
        grouping: 'na',
      },
      { type: 'cancel', cancels: [{ a: 0, o: 9_007_199_254_740 }] },
      { type: 'cancelByCloid', cancels: [{ asset: 0, cloid: '0x01' }] },
      { type: 'updateLeverage', asset: 0, isCross: true, leverage: 25 },
      { type: 'updateIsolatedMargin', asset: 0, isBuy: true, ntli: -5_000_000 },
      { type: 'scheduleCancel', time: NONCE },
    ]
    for (const action of signed) {
      const envelope = signL1(VECTOR_KEY, { action, nonce: NONCE })
      assert.ok(isSigner(sent({ ...envelope, action: reversed(action) })), action.type)
    }
  })

  it('takes prices and sizes that were signed without their trailing zeros', () => {
    const envelope = signL1(VECTOR_KEY, { action: ORDER, nonce: NONCE })
    const withPrice = (p: string, s: string) => sent({ ...envelope, action: { ...ORDER, orders: [{ ...item, p, s }] } })
    for (const [p, s] of [
      ['68250.0', '0.01'],
      ['68250.', '0.010'],
      ['68250.000', '0.0100'],
    ] as const) {
      assert.ok(isSigner(withPrice(p, s)), `${p} ${s}`)
    }
    for (const [p, s] of [
      ['682500', '0.01'],
      ['6825', '0.01'],
      ['68250', '0.1'],
      ['068250', '0.01'],
      ['68250.1', '0.01'],
      ['68250', '0.001'],
    ] as const) {
      assert.ok(!isSigner(withPrice(p, s)), `${p} ${s}`)
    }
  })

  it('lets nothing be added to what was signed', () => {
    const envelope = signL1(VECTOR_KEY, { action: ORDER, nonce: NONCE })
    for (const action of [
      { ...ORDER, x: 1 },
      { ...ORDER, builder: null },
      { ...ORDER, orders: [item, item] },
      { ...ORDER, orders: [{ ...item, z: null }] },
    ]) {
      assert.ok(!isSigner(sent({ ...envelope, action })))
    }
  })

  it('has no other form for actions that do not trade', () => {
    const envelope = signL1(VECTOR_KEY, { action: { type: 'setReferrer', code: 'X' }, nonce: NONCE })
    assert.ok(isSigner(envelope))
    assert.ok(!isSigner(sent({ ...envelope, action: { code: 'X', type: 'setReferrer' } })))
  })

  it('still knows the signer when r or s lost its zeros', () => {
    let stripped = 0
    for (let nonce = NONCE; stripped < 4; nonce++) {
      const envelope = signL1(VECTOR_KEY, { action: ORDER, nonce })
      const { r, s, v } = envelope.signature
      if (!r.startsWith('0x00') && !s.startsWith('0x00')) continue
      stripped++
      const signature = { r: r.replace(/^0x0+/, '0x'), s: s.replace(/^0x0+/, '0x'), v: v - 27 }
      assert.equal(candidates(sent({ ...envelope, signature }))[0], VECTOR_SIGNER)
    }
  })

  it("has no candidates for signatures that are nobody's, with every engine the same", () => {
    const envelope = signL1(VECTOR_KEY, { action: ORDER, nonce: NONCE })
    const { r, s, v } = envelope.signature
    const upper = `0x${wordText(CURVE_ORDER - BigInt(s))}` as Hex
    assert.deepEqual(candidates({ ...envelope, signature: { r, s: upper, v: v === 27 ? 28 : 27 } }), [])
    for (const hostile of hostileSignatures()) {
      if (hostile.r >= 2n ** 256n || hostile.s >= 2n ** 256n) continue
      const signature = {
        r: `0x${wordText(hostile.r)}` as Hex,
        s: `0x${wordText(hostile.s)}` as Hex,
        v: hostile.v === 0 ? 27 : 28,
      } as const
      const answers = ENGINES.map((one) => [...l1SignerCandidates(one, { ...envelope, signature }, ['b', 'a'])])
      for (const answer of answers) assert.deepEqual(answer, answers[0], hostile.name)
      assert.ok(!answers[0]!.includes(VECTOR_SIGNER as never))
    }
  })
})

/** Reverses the order of the keys of every object. */
function reversed<Value>(value: Value): Value {
  if (Array.isArray(value)) return value.map(reversed) as Value
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([key, member]) => [key, reversed(member)]),
  ) as Value
}
