import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { RpcOutcome } from '../../chain/rpcClient.ts'
import { firstFees, isTooDear, lateFees, parseFees, raisedFees } from './fees.ts'
import { defaultRelayerSettings } from './relayerSettings.ts'

const ok = (result: unknown): RpcOutcome => ({ ok: true, result })
const REFUSED: RpcOutcome = { ok: false, code: -32601, message: 'no such method', data: undefined }
const wei = fc.bigInt({ min: 0n, max: 10n ** 15n })

describe('fees', () => {
  it('come from the history, or from the price of gas where there is none', () => {
    const history = ok({ baseFeePerGas: ['0x1', '0x64'], reward: [['0x5'], ['0x7'], ['0x1']] })
    assert.deepEqual(parseFees(history, REFUSED), { baseFeeWei: 100n, tipWei: 5n })
    assert.deepEqual(parseFees(ok({ baseFeePerGas: ['0x64'] }), REFUSED), { baseFeeWei: 100n, tipWei: 0n })
    assert.deepEqual(parseFees(REFUSED, ok('0x9')), { baseFeeWei: 9n, tipWei: 0n })
    for (const nonsense of [null, 7, 'x', [], {}, { baseFeePerGas: [] }, { baseFeePerGas: ['?'] }]) {
      assert.equal(parseFees(ok(nonsense), REFUSED), undefined)
    }
  })

  it('of a first offer have room for six full blocks and stay below the most', () => {
    const market = { baseFeeWei: 100n, tipWei: 5n }
    assert.deepEqual(firstFees(market, { minTipWei: 1n, maxFeeWei: 1_000n }), {
      maxFeeWei: 205n,
      maxPriorityFeeWei: 5n,
    })
    assert.deepEqual(firstFees(market, { minTipWei: 50n, maxFeeWei: 30n }), { maxFeeWei: 30n, maxPriorityFeeWei: 30n })
  })

  it('follow the tips of others up to the base fee, and are not too dear for what others tip', () => {
    const terms = { minTipWei: 1n, maxFeeWei: 500n }
    const tipped = { baseFeeWei: 10n, tipWei: 1_000n }
    assert.deepEqual(firstFees(tipped, terms), { maxFeeWei: 30n, maxPriorityFeeWei: 10n })
    assert.equal(isTooDear(tipped, terms), false)
    assert.equal(isTooDear({ baseFeeWei: 499n, tipWei: 0n }, terms), false)
    assert.equal(isTooDear({ baseFeeWei: 500n, tipWei: 0n }, terms), true)
  })

  it('of what is late follow the tips of others beyond the base fee, up to the most', () => {
    const tipped = { baseFeeWei: 10n, tipWei: 1_000n }
    const fees = (maxFeeWei: bigint) => lateFees(tipped, { minTipWei: 1n, maxFeeWei })
    assert.deepEqual(fees(5_000n), { maxFeeWei: 1_020n, maxPriorityFeeWei: 1_000n })
    assert.deepEqual(fees(500n), { maxFeeWei: 500n, maxPriorityFeeWei: 500n })
  })

  it('on Polygon always tip what its nodes ask for, and can pay it with the base fee unless that is too dear', () => {
    const terms = defaultRelayerSettings('polygon')
    const leastTip = 25n * 10n ** 9n
    const any = fc.bigInt({ min: 0n, max: 2_000n * 10n ** 9n })
    fc.assert(
      fc.property(any, any, fc.constantFrom(firstFees, lateFees), (baseFeeWei, tipWei, feesOf) => {
        const market = { baseFeeWei, tipWei }
        const { maxFeeWei, maxPriorityFeeWei } = feesOf(market, terms)
        assert.ok(maxPriorityFeeWei >= leastTip && maxFeeWei >= maxPriorityFeeWei && maxFeeWei <= terms.maxFeeWei)
        assert.equal(maxFeeWei < baseFeeWei + leastTip, isTooDear(market, terms))
        const replaced = raisedFees({ maxFeeWei, maxPriorityFeeWei }, undefined, terms.maxFeeWei)
        assert.ok(replaced === undefined || replaced.maxPriorityFeeWei >= leastTip)
      }),
    )
  })

  it('of a replacement are both an eighth higher, at least as high as the market, and below the most', () => {
    fc.assert(
      fc.property(wei, wei, wei, wei, (tip, more, marketTip, most) => {
        const before = { maxFeeWei: tip + more, maxPriorityFeeWei: tip }
        const market = { maxFeeWei: 2n * marketTip, maxPriorityFeeWei: marketTip }
        const after = raisedFees(before, market, most)
        if (after === undefined) return assert.ok(8n * most < 9n * before.maxFeeWei + 8n)
        assert.ok(after.maxFeeWei <= most && after.maxPriorityFeeWei <= after.maxFeeWei)
        assert.ok(8n * after.maxFeeWei >= 9n * before.maxFeeWei && after.maxFeeWei > before.maxFeeWei)
        assert.ok(8n * after.maxPriorityFeeWei >= 9n * before.maxPriorityFeeWei)
        assert.ok(after.maxFeeWei >= market.maxFeeWei || after.maxFeeWei === most)
      }),
    )
  })
})
