import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { changeOfOrder, typedTerms } from './orderChange.ts'

const MARKET = { pricePrecision: 1, sizePrecision: 4, base: 'BTC' }
const ORDER = { side: 'long', price: '60000', size: '0.02', tp: null, sl: '57000' } as const
const TYPED = typedTerms(ORDER)

describe('a change of a resting order', () => {
  it('is nothing as long as nothing changed', () => {
    assert.deepEqual(TYPED, { price: '60000', size: '0.02', tp: '', sl: '57000' })
    assert.deepEqual(changeOfOrder(ORDER, TYPED, MARKET), { request: null, problems: {} })
  })

  it('names only what changed', () => {
    assert.deepEqual(changeOfOrder(ORDER, { ...TYPED, price: '59000.26' }, MARKET).request, { price: '59000.3' })
    assert.deepEqual(changeOfOrder(ORDER, { ...TYPED, size: '0.03', tp: '66000', sl: '' }, MARKET).request, {
      size: '0.03',
      tp: '66000',
      sl: '0',
    })
  })

  it('says which field is wrong and why', () => {
    const { request, problems } = changeOfOrder(ORDER, { price: '', size: '0.00001', tp: '1', sl: '.' }, MARKET)
    assert.equal(request, null)
    assert.match(problems.price ?? '', /triggers/)
    assert.match(problems.size ?? '', /at most 4 decimals/)
    assert.match(problems.sl ?? '', /above 0/)
  })

  it('holds stops against the new price', () => {
    const { problems } = changeOfOrder(ORDER, { ...TYPED, price: '56000' }, MARKET)
    assert.match(problems.sl ?? '', /below the order's price/)
    const short = { ...ORDER, side: 'short', sl: null } as const
    assert.match(changeOfOrder(short, { ...TYPED, sl: '', tp: '61000' }, MARKET).problems.tp ?? '', /below/)
  })
})
