import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { PercentP, Price } from '@bezel/protocol/wire'
import { decodeFunctionData, getAddress, numberToHex, parseAbi } from 'viem'
import { readerOf, readOpeningImpact, readPairPrice, type ReadContract } from './readDiamond.ts'

const DIAMOND = `0x${'d1'.repeat(20)}` as const

const TRADER = getAddress(`0x${'a1'.repeat(20)}`)

const ABI = parseAbi([
  'function pairSpreadP(address trader, uint256 pairIndex) view returns (uint256)',
  'function getTradeCumulVolPriceImpactP(address trader, uint16 pairIndex, bool long, uint256 tradeOpenInterestUsd, bool isPnlPositive, bool open, uint256 lastPosIncreaseBlock) view returns (int256)',
])

/** A Diamond with a spread of 0.04 % and an impact of `perMillionP` percent for each million USD. */
function diamondWith(perMillionP: number): { readonly read: ReadContract; readonly asked: (readonly unknown[])[] } {
  const asked: (readonly unknown[])[] = []
  const read = readerOf({
    address: TRADER,
    sendTransaction: () => assert.fail('nothing is sent'),
    async call(to, data) {
      assert.equal(to, DIAMOND)
      const { functionName, args } = decodeFunctionData({ abi: ABI, data })
      if (functionName === 'pairSpreadP') return numberToHex((4n * PercentP.one) / 100n, { size: 32 })
      asked.push(args)
      const impact = (Number(args[3]) / 1e24) * perMillionP * Number(PercentP.one)
      return numberToHex(BigInt(Math.round(args[2] ? impact : -impact)), { size: 32, signed: true })
    },
  })
  return { read: read!, asked }
}

const opening = (long: boolean, size: bigint) =>
  ({ trader: TRADER, pairIndex: 3, long, size: size * 10n ** 18n, price: 50_000n * Price.one }) as const

describe('readOpeningImpact', () => {
  it('finds the notional whose impact is its own', async () => {
    const { read, asked } = diamondWith(0.5)
    // 20 x 50,000 = 1,000,000 USD: i = 0.02 + 0.5 x (1 + i / 100).
    const impact = Number(await readOpeningImpact(read, DIAMOND, opening(true, 20n))) / 1e10
    assert.ok(Math.abs(impact - 0.52 / (1 - 0.005)) < 1e-6, String(impact))
    assert.ok(asked.length > 1 && asked.length <= 4, `${asked.length} reads`)
    const [trader, pairIndex, long, notional, isPnlPositive, isOpen, block] = asked[0]!
    assert.deepEqual([trader, pairIndex, long, isPnlPositive, isOpen, block], [TRADER, 3, true, false, true, 0n])
    assert.equal(notional, 10n ** 24n)
  })

  it('has the sign of the side', async () => {
    const { read } = diamondWith(0.5)
    const impact = Number(await readOpeningImpact(read, DIAMOND, opening(false, 20n))) / 1e10
    assert.ok(Math.abs(impact - -0.52 / (1 + 0.005)) < 1e-6, String(impact))
  })

  it('ends after a few reads where nothing settles', async () => {
    const { read, asked } = diamondWith(95)
    await readOpeningImpact(read, DIAMOND, opening(true, 20n))
    assert.ok(asked.length <= 8, `${asked.length} reads`)
  })
})

describe('the price of a pair on the chain', () => {
  const NOW_MS = 1_800_000_000_000
  const FEED = `0x${'f1'.repeat(20)}` as const
  const OTHER_FEED = `0x${'f2'.repeat(20)}` as const
  const NO_FEED = `0x${'0'.repeat(40)}` as const

  /** Reads over a Diamond with these feeds for its pair, and feeds of 8 decimals with these answers. */
  const readerWith = (
    feed: { feed1: string; feed2?: string; feedCalculation?: number; maxDeviationP?: bigint },
    answers: Readonly<Record<string, { readonly answer: bigint; readonly ageS?: number }>>,
  ): ReadContract => {
    const answerOf = (address: string, name: string): unknown => {
      const pair = { from: 'BTC', to: 'USD', feed: { feed2: NO_FEED, feedCalculation: 0, maxDeviationP: 0n, ...feed } }
      if (name === 'pairs') return pair
      if (name === 'decimals') return 8
      const found = answers[address]
      if (found === undefined) throw new Error('execution reverted')
      const updatedAt = BigInt(NOW_MS / 1_000 - (found.ageS ?? 10))
      return [1n, found.answer, updatedAt, updatedAt, 1n]
    }
    return async (address, name) => answerOf(address, name) as never
  }
  const priceOf = (...of: Parameters<typeof readerWith>) => readPairPrice(readerWith(...of), DIAMOND, 0, NOW_MS)

  it('is what its feeds say, in the way that the Diamond counts', async () => {
    const answers = { [FEED]: { answer: 6_000_000_000_000n }, [OTHER_FEED]: { answer: 200_000_000n } }
    assert.deepEqual(await priceOf({ feed1: FEED }, answers), { price: '60000', tolerancePercent: '5' })
    const maxDeviationP = (25n * PercentP.one) / 10n
    const own = await priceOf({ feed1: FEED, maxDeviationP }, answers)
    assert.deepEqual(own, { price: '60000', tolerancePercent: '2.5' })
    assert.equal((await priceOf({ feed1: OTHER_FEED, feedCalculation: 1 }, answers))?.price, '0.5')
    const quotient = await priceOf({ feed1: FEED, feed2: OTHER_FEED, feedCalculation: 2 }, answers)
    assert.equal(quotient?.price, '30000')
  })

  it('is unknown without a feed, and when the feed is old, empty or no feed at all', async () => {
    assert.equal(await priceOf({ feed1: NO_FEED }, {}), undefined)
    assert.equal(await priceOf({ feed1: FEED }, {}), undefined)
    assert.equal(await priceOf({ feed1: FEED }, { [FEED]: { answer: 0n } }), undefined)
    assert.equal(await priceOf({ feed1: FEED }, { [FEED]: { answer: 1n, ageS: 100_000 } }), undefined)
    const half = { [FEED]: { answer: 6_000_000_000_000n } }
    assert.equal(await priceOf({ feed1: FEED, feed2: OTHER_FEED, feedCalculation: 2 }, half), undefined)
  })
})
