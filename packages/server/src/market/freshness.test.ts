import assert from 'node:assert/strict'
import { beforeEach, describe, it } from 'node:test'
import { ApiError, Price, Slippage } from '@bezel/protocol'
import fc from 'fast-check'
import { createFreshness, HEARD_WITHIN_MS, PRICED_WITHIN_MS, type Freshness } from './freshness.ts'
import { BTC, createWorld, EUR, portsOf, usd, type MarketWorld } from './testing/fixtures.ts'

/** Returns the details with which a read is refused; `undefined` when it is not. */
function refusal(read: () => unknown): unknown {
  try {
    read()
    return undefined
  } catch (error) {
    assert.ok(error instanceof ApiError && error.code === 'NOT_READY')
    return error.details
  }
}

const STALE = { reason: 'feed_stale' }

const QUIET_MS = 60_000

describe('createFreshness', () => {
  let world: MarketWorld
  let freshness: Freshness
  beforeEach(() => {
    world = createWorld()
    freshness = createFreshness(portsOf(world))
  })
  const reasons = () => [freshness.pricesReason(), freshness.marketsReason()]
  /** Lets time pass in which another pair ticks, and BTC does not. */
  const passQuietly = (ms: number): void => {
    world.nowMs += ms
    world.quotes.set(21, { ...world.quotes.get(21)!, updatedAtMs: world.nowMs })
  }

  it('is a matter of the feed: heard within 5 s and a price of any pair within 15 s, and not a millisecond later', () => {
    const startMs = world.nowMs
    fc.assert(
      fc.property(fc.nat(2 * HEARD_WITHIN_MS), fc.nat(2 * PRICED_WITHIN_MS), (heardMs, pricedMs) => {
        world.heardAtMs = startMs - Math.min(heardMs, pricedMs)
        for (const [pairIndex, quote] of world.quotes) {
          world.quotes.set(pairIndex, { ...quote, updatedAtMs: startMs - pricedMs })
        }
        const isFresh = startMs - world.heardAtMs <= HEARD_WITHIN_MS && pricedMs <= PRICED_WITHIN_MS
        const reason = isFresh ? undefined : 'feed_stale'
        assert.deepEqual(reasons(), [reason, reason])
        assert.deepEqual(
          refusal(() => freshness.quote(BTC)),
          isFresh ? undefined : STALE,
        )
      }),
    )
    assert.deepEqual([HEARD_WITHIN_MS, PRICED_WITHIN_MS], [5_000, 15_000])
  })

  it('has what the last process heard of a market as its last price, and opens nothing at it', () => {
    const recalled = world.quotes.get(0)!
    world.quotes.delete(0)
    world.recalled.set(0, recalled)
    world.quotes.set(21, { ...world.quotes.get(21)!, updatedAtMs: world.nowMs })
    assert.equal(freshness.lastQuote(BTC), recalled)
    const missing = { ...STALE, market: 'BTC/USD' }
    for (const read of [
      () => freshness.quote(BTC),
      () => freshness.openingMark(BTC, undefined),
      () => freshness.openingMark(BTC, { pairIndex: 0, price: recalled.mark, slippage: Slippage.one }),
    ]) {
      assert.deepEqual(refusal(read), missing)
    }
  })

  it('has last prices, and nothing else, while the snapshot is refused', () => {
    world.hasSnapshot = false
    assert.deepEqual(reasons(), ['starting', 'starting'])
    assert.equal(freshness.loaded(), world.chain)
    assert.equal(freshness.lastQuote(BTC)?.mark, usd(60_000))
    assert.deepEqual(
      refusal(() => freshness.openingMark(BTC, undefined)),
      { reason: 'starting' },
    )
  })

  it('starts until the chain and the answer to the request for the snapshot are there', () => {
    world.hasSnapshot = false
    world.wasAsked = false
    assert.deepEqual(reasons(), ['starting', 'starting'])
    assert.deepEqual(
      refusal(() => freshness.loaded()),
      { reason: 'starting' },
    )
    world.hasSnapshot = true
    world.wasAsked = true
    world.chain = undefined
    assert.deepEqual(reasons(), ['starting', 'starting'])
  })

  it('reads a market however quiet it is, open or closed, while others tick', () => {
    passQuietly(86_400_000)
    assert.deepEqual(reasons(), [undefined, undefined])
    assert.equal(freshness.quote(BTC).mark, usd(60_000))
    assert.equal(freshness.lastQuote(BTC)?.updatedAtMs, world.nowMs - 86_400_000)
  })

  it('refuses a market that the feed does not know, and names it', () => {
    world.quotes.delete(21)
    assert.deepEqual(
      refusal(() => freshness.quote(EUR)),
      { ...STALE, market: 'EUR/USD' },
    )
    assert.equal(freshness.lastQuote(EUR), undefined)
  })

  it('has the last price of every market, whatever the feed does', () => {
    world.nowMs += 86_400_000
    assert.deepEqual(reasons(), ['feed_stale', 'feed_stale'])
    assert.equal(freshness.lastQuote(BTC)?.mark, usd(60_000))
  })

  it('gives prices while the node is away, but nothing that is read from it', () => {
    world.isLagging = true
    assert.deepEqual(reasons(), [undefined, 'chain_lagging'])
    for (const read of [() => freshness.quote(BTC), () => freshness.lastQuote(BTC)]) {
      assert.deepEqual(refusal(read), { reason: 'chain_lagging' })
    }
  })

  const ONE_PERCENT = Slippage.one
  const witness = (price: number, slippage = ONE_PERCENT) => ({ pairIndex: 0, price: usd(price), slippage })

  it('has the price of a witness as the last one where the mark that opens is that, too', () => {
    passQuietly(QUIET_MS)
    assert.equal(freshness.lastQuote(BTC, witness(60_001))?.mark, usd(60_000))
    passQuietly(1)
    const quote = freshness.lastQuote(BTC, witness(60_001))
    assert.deepEqual(quote, { ...world.quotes.get(0)!, mark: usd(60_001) })
    assert.equal(quote.mark, freshness.openingMark(BTC, witness(60_001)))
    for (const none of [{ ...witness(1), price: undefined }, { ...witness(1), pairIndex: 21 }, undefined]) {
      assert.equal(freshness.lastQuote(BTC, none)?.mark, usd(60_000))
    }
    world.quotes.delete(0)
    assert.equal(freshness.lastQuote(BTC, witness(60_001)), undefined)
  })

  describe('of the mark that opens', () => {
    const quiet = { ...STALE, market: 'BTC/USD' }

    it('is the last mark for 60 s of silence, whatever a witness says', () => {
      passQuietly(QUIET_MS)
      assert.equal(freshness.openingMark(BTC, undefined), usd(60_000))
      assert.equal(freshness.openingMark(BTC, witness(1)), usd(60_000))
    })

    it('needs a witness after that', () => {
      passQuietly(QUIET_MS + 1)
      assert.deepEqual(
        refusal(() => freshness.openingMark(BTC, undefined)),
        quiet,
      )
      assert.deepEqual(
        refusal(() => freshness.openingMark(BTC, { ...witness(60_000), price: undefined })),
        quiet,
      )
      assert.deepEqual(
        refusal(() => freshness.openingMark(BTC, { ...witness(60_000), pairIndex: 21 })),
        quiet,
        'a witness of another pair',
      )
      assert.equal(freshness.openingMark(BTC, witness(60_001)), usd(60_001), 'the price of the witness is used')
    })

    it('takes a witness within the slippage on either side, to the last digit', () => {
      passQuietly(QUIET_MS + 1)
      const mark = usd(60_000)
      fc.assert(
        fc.property(fc.bigInt(1n, 65_535n), fc.bigInt(-1n, 1n), fc.boolean(), (slippage, beyond, isAbove) => {
          const distance = (mark * slippage) / 100_000n + beyond
          const price = Price.of(isAbove ? mark + distance : mark - distance)
          const details = refusal(() =>
            freshness.openingMark(BTC, { pairIndex: 0, price, slippage: Slippage.of(slippage) }),
          )
          assert.deepEqual(details, beyond > 0n ? quiet : undefined)
        }),
      )
    })

    it('is refused while the feed is stale, witness or not', () => {
      world.nowMs += HEARD_WITHIN_MS + 1
      assert.deepEqual(
        refusal(() => freshness.openingMark(BTC, witness(60_000))),
        STALE,
      )
    })
  })
})
