import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { diamondAbi, type Hex } from '@bezel/protocol'
import fc from 'fast-check'
import { decodeEventLog, encodeEventTopics, toEventSelector, type AbiEvent } from 'viem'
import { EventDecodeError } from './events.ts'
import { decodeLog, USED_EVENTS } from './events.ts'
import { decodeMarketLog, isSettingTopic, MARKET_EVENTS, SETTING_EVENTS } from './marketEvents.ts'
import type { RawLog } from './events.ts'
import { arbitraryOf } from './testing/arbitraryValue.ts'
import { encodeEvent } from './testing/encodeLog.ts'

const EVENTS = diamondAbi.filter((item): item is Extract<typeof item, { type: 'event' }> => item.type === 'event')

function itemOf(name: string): AbiEvent {
  return EVENTS.find((event) => event.name === name)!
}

describe('decoders of events', () => {
  for (const name of [...USED_EVENTS, ...MARKET_EVENTS]) {
    it(`${name}: reads what viem reads`, () => {
      const event = itemOf(name)
      const args = fc.record(Object.fromEntries(event.inputs.map((input) => [input.name!, arbitraryOf(input)])), {
        noNullPrototype: true,
      })
      fc.assert(
        fc.property(args, (values) => {
          const log = encodeEvent(event, values)
          const decoded = decodeLog(log) ?? decodeMarketLog(log)
          assert.equal(decoded?.name, name)
          assert.deepEqual(decoded.args, values)
          assert.deepEqual(decoded.args, decodeEventLog({ abi: [event], ...log } as never).args)
        }),
        { numRuns: 20 },
      )
    })
  }

  it('leaves out logs of other kinds', () => {
    for (const event of EVENTS.filter((candidate) => !(USED_EVENTS as readonly string[]).includes(candidate.name))) {
      const [topic0] = encodeEventTopics({ abi: [event] } as never)
      assert.equal(decodeLog({ topics: [topic0 as Hex], data: '0x' as Hex }), undefined)
    }
    assert.equal(decodeLog({ topics: [], data: '0x' as Hex }), undefined)
  })

  it('knows an event as one of orders or one of markets, never as both', () => {
    const markets: readonly string[] = MARKET_EVENTS
    assert.deepEqual(
      USED_EVENTS.filter((name) => markets.includes(name)),
      [],
    )
    for (const event of EVENTS.filter(({ name }) => !markets.includes(name))) {
      const [topic0] = encodeEventTopics({ abi: [event] } as never)
      assert.equal(decodeMarketLog({ topics: [topic0 as Hex], data: '0x' as Hex }), undefined)
    }
  })

  it('tells settings by their topic: those of the ABI, and those of which only the signature is known', () => {
    const topicOf = (event: string | AbiEvent): Hex => toEventSelector(event) as Hex
    for (const signature of SETTING_EVENTS) assert.ok(isSettingTopic(topicOf(signature)), signature)
    const told = EVENTS.filter((event) => isSettingTopic(topicOf(event))).map(({ name }) => name)
    const wanted = ['PairUpdated', 'GroupUpdated', 'FeeUpdated', 'TradingActivatedUpdated', 'DiamondCut'] as const
    for (const name of wanted) assert.ok(told.includes(name), name)
    for (const name of [...USED_EVENTS, ...MARKET_EVENTS]) assert.ok(!isSettingTopic(topicOf(itemOf(name))), name)
  })

  it('refuses a log of a used kind that is not as the ABI says', () => {
    const good = encodeEvent(itemOf('TradeTpUpdated'), { user: `0x${'11'.repeat(20)}`, index: 3, newTp: 7n })
    assert.deepEqual(decodeLog(good)?.args, { user: `0x${'11'.repeat(20)}`, index: 3, newTp: 7n })
    const wrong: RawLog[] = [
      { ...good, data: '0x' as Hex },
      { ...good, data: `${good.data}00` as Hex },
      { ...good, data: `0x${'ff'.repeat(32)}` as Hex },
      { ...good, topics: good.topics.slice(0, 2) },
      { ...good, topics: [good.topics[0]!, `0x${'ff'.repeat(32)}` as Hex, good.topics[2]!] },
      { ...good, topics: [good.topics[0]!, good.topics[1]!, `0x${'ff'.repeat(32)}` as Hex] },
    ]
    for (const log of wrong) assert.throws(() => decodeLog(log), EventDecodeError)
  })
})
