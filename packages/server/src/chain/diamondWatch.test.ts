import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { diamondAbi, StartupError, type Address, type Hex } from '@bezel/protocol'
import { testChain } from '@bezel/testkit/servedChain.ts'
import { toEventSelector, toHex, type Abi, type AbiEvent } from 'viem'
import type { ChainBlock, ChainTransaction } from './blocks.ts'
import type { EventOf } from './events.ts'
import { openDiamondWatch, type DiamondWatch } from './diamondWatch.ts'
import { parseStep, tellApplied, type ToldBlock } from '../follower/toldBlocks.ts'
import { createFakeDiamond, type FakeDiamond } from './testing/fakeDiamond.ts'

const CHAIN = testChain('base')

const SENDER = `0x${'11'.repeat(20)}` as Address

type Asked = EventOf<'PendingOrderStored'>
type Event = Asked | EventOf<'ChainlinkCallbackTimeout'>

const topicOf = (name: string): Hex =>
  toEventSelector(diamondAbi.find((entry) => entry.type === 'event' && entry.name === name) as AbiEvent) as Hex

const CUT = topicOf('DiamondCut')

const hashOf = (number: number): Hex => toHex(number, { size: 32 }) as Hex

/** Returns a block with one transaction that emitted logs of these topics. Blocks are two seconds apart. */
function block(number: number, topics: readonly Hex[] = [], undecoded: readonly string[] = []): ChainBlock {
  const transaction: ChainTransaction = {
    hash: hashOf(1_000 + number),
    index: 0,
    from: SENDER,
    to: CHAIN.diamond,
    input: '0x' as Hex,
    events: [],
    marketEvents: [],
    hasLogs: true,
    topics,
    undecoded,
  }
  return {
    block: { number, hash: hashOf(number), parentHash: hashOf(number - 1), timestampMs: number * 2_000 },
    transactions: [transaction],
    senders: new Set([SENDER]),
  }
}

/** Returns blocks as the node that follows the chain tells them to the others. */
function toldBlocks(blocks: readonly ChainBlock[]): readonly ToldBlock[] {
  const step = parseStep(tellApplied(blocks))
  return step.kind === 'applied' ? step.blocks : []
}

describe('the watch over a Diamond', () => {
  let fake: FakeDiamond
  let watch: DiamondWatch | undefined
  let logged: string[]

  beforeEach(() => {
    fake = createFakeDiamond()
    logged = []
  })
  afterEach(() => watch?.close())

  /** Opens a watch, with a function that passes it blocks as a node does that follows the chain. */
  async function open(retryMs = 600_000): Promise<DiamondWatch & { note(blocks: ChainBlock[]): Promise<void> }> {
    const note = (level: string) => (_at: unknown, text: string) => logged.push(`${level}: ${text}`)
    const log = { warn: note('warn'), error: note('error') } as never
    const opened = await openDiamondWatch({ chain: CHAIN, client: fake.client, unansweredMs: 10_000, retryMs, log })
    watch = opened
    return {
      ...opened,
      async note(blocks) {
        opened.noteChanges(blocks)
        opened.noteLogs(blocks)
        await opened.checked()
      },
    }
  }

  const remove = (name: string): void => void (fake.functions = fake.functions.filter((other) => other !== name))

  it('tells when the Diamond counts other blocks than the node', async () => {
    const { note, stats, reason } = await open()
    const requestedAt = (createdBlock: number): ChainBlock => {
      const at = block(30)
      const pendingOrder = { createdBlock } as EventOf<'PendingOrderStored'>['args']['pendingOrder']
      const event = { name: 'PendingOrderStored', args: { pendingOrder }, logIndex: 0 } as const
      return { ...at, transactions: at.transactions.map((one) => ({ ...one, events: [event] })) }
    }
    await note([requestedAt(30)])
    assert.deepEqual([[...stats().undecoded], logged], [[], []])
    await note([requestedAt(7), requestedAt(7)])
    assert.deepEqual([...stats().undecoded], [['PendingOrderStored.createdBlock', 2]])
    assert.match(logged.join(), /^error: the Diamond counts other blocks than the node[^:]+$/)
    assert.equal(reason(), undefined)
  })

  it('finds nothing wrong with the Diamond that this build knows', async () => {
    const { reason, warning, stats } = await open()
    assert.deepEqual([reason(), warning(), stats().isChanged, logged], [undefined, undefined, false, []])
  })

  it('refuses to start with another timeout of requests than the chains file names', async () => {
    fake.timeoutBlocks = 31
    await open()
    watch?.close()
    const chain = { ...CHAIN, requestTimeoutBlocks: 30 }
    const opening = openDiamondWatch({ chain, client: fake.client, unansweredMs: 10_000, log: {} as never })
    await assert.rejects(
      opening,
      (error) => error instanceof StartupError && /after 31 blocks, not 30/.test(error.message),
    )
  })

  it('refuses to start without a function that is called', async () => {
    remove('closeTradeMarket')
    await assert.rejects(open(), (error) => error instanceof StartupError && /closeTradeMarket/.test(error.message))
  })

  it('starts without a node, and checks when it is there', async () => {
    fake.isAway = true
    const { reason } = await open(1)
    assert.equal(reason(), 'starting')
    fake.isAway = false
    while (reason() !== undefined) await sleep(1)
  })

  it('turns writes off, not the process, when the node comes late with another Diamond', async () => {
    fake.isAway = true
    const { reason, warning } = await open(1)
    fake.isAway = false
    remove('updateSl')
    while (reason() === 'starting') await sleep(1)
    assert.equal(reason(), 'diamond_changed')
    assert.match(warning()!, /on base does not answer updateSl \(0x\w{8}\): /)
  })

  it('holds a Diamond that comes late to the chains file too', async () => {
    fake.isAway = true
    const { reason, warning } = await open(1)
    fake.isAway = false
    fake.pairs = 0n
    while (reason() === 'starting') await sleep(1)
    assert.equal(reason(), 'diamond_changed')
    assert.match(warning()!, /lists 0 pairs/)
  })

  it('checks a replaced facet at or after its block, and lets writes go on', async () => {
    const { reason, note, stats } = await open()
    await note([block(11), block(12, [CUT])])
    assert.equal(reason(), undefined)
    assert.deepEqual([stats().cuts, fake.readAt], [1, [10, 12]])
    assert.deepEqual(logged, [
      'error: the Diamond was changed: writes are off until its functions are checked',
      'warn: the Diamond answers every function that is called',
    ])
  })

  it('knows a new implementation behind the proxy for a change', async () => {
    const { note, stats } = await open()
    await note([block(11, [toEventSelector('event Upgraded(address indexed implementation)') as Hex])])
    assert.deepEqual([stats().cuts, stats().unknownTopics.size, fake.readAt], [1, 0, [10, 11]])
  })

  it('keeps writes off while the node does not tell, and names the block', async () => {
    const { reason, warning, note } = await open()
    fake.isAway = true
    await note([block(11, [CUT])])
    assert.equal(reason(), 'diamond_changed')
    assert.equal(warning(), 'The Diamond was changed in block 11, and its functions are not checked yet.')
    fake.isAway = false
    await note([block(12)])
    assert.deepEqual([reason(), warning()], [undefined, undefined])
  })

  it('keeps writes off while a function is missing, until a cut brings it back', async () => {
    const { reason, warning, note } = await open()
    remove('updateSl')
    await note([block(11, [CUT])])
    await note([block(12), block(13)])
    assert.equal(reason(), 'diamond_changed')
    assert.match(warning()!, /updateSl/)
    fake.functions.push('updateSl')
    await note([block(14, [CUT])])
    assert.equal(reason(), undefined)
  })

  it('looks again when the block of the cut was undone', async () => {
    const { reason, note } = await open()
    remove('updateSl')
    await note([block(11, [CUT])])
    fake.functions.push('updateSl')
    await note([block(11)])
    assert.equal(reason(), undefined)
  })

  it('checks a cut again that came back in another block of a number that was checked', async () => {
    const { note } = await open()
    await note([block(11), block(12, [CUT])])
    await note([block(12, [CUT])])
    assert.deepEqual(fake.readAt, [10, 12, 12])
  })

  it('needs no check for cuts of before the start', async () => {
    const { reason, note, stats } = await open()
    await note(Array.from({ length: 10 }, (_, number) => block(number + 1, [CUT])))
    assert.deepEqual([reason(), stats().cuts, fake.readAt, logged], [undefined, 10, [10], []])
  })

  it('takes a log that can not be decoded for a change, until a later cut was checked', async () => {
    const { reason, warning, note, stats } = await open()
    await note([block(11, [topicOf('TradeTpUpdated')], ['TradeTpUpdated'])])
    await note([block(12), block(13, [], ['TradeTpUpdated'])])
    assert.equal(reason(), 'diamond_changed')
    assert.match(warning()!, /emits TradeTpUpdated in a layout that this build does not know, since block 11\.$/)
    assert.deepEqual([...stats().undecoded], [['TradeTpUpdated', 2]])
    await note([block(14, [CUT])])
    assert.equal(reason(), undefined)
    assert.deepEqual([...stats().undecoded], [['TradeTpUpdated', 2]])
  })

  it('forgets a log that can not be decoded when its block was undone', async () => {
    const { reason, note } = await open()
    await note([block(11, [CUT]), block(12, [], ['TradeTpUpdated']), block(13, [], ['TradeSlUpdated'])])
    await note([block(13)])
    assert.equal(reason(), 'diamond_changed')
    await note([block(11)])
    assert.equal(reason(), undefined)
  })

  it('ends a log that can not be decoded by a cut that another node told', async () => {
    const { reason, note, noteChanges, checked, stats } = await open()
    await note([block(11, [], ['TradeTpUpdated'])])
    noteChanges(toldBlocks([block(12), block(13, [CUT])]))
    await checked()
    assert.deepEqual([reason(), stats().cuts], [undefined, 0])
  })

  it('is off for a log that another node could not decode, and for a function that it misses', async () => {
    const { reason, warning, noteChanges, checked } = await open()
    noteChanges(toldBlocks([block(11, [], ['TradeTpUpdated'])]))
    assert.match(warning()!, /emits TradeTpUpdated in a layout that this build does not know, since block 11\.$/)
    remove('updateSl')
    noteChanges(toldBlocks([block(12, [CUT])]))
    await checked()
    assert.equal(reason(), 'diamond_changed')
    assert.match(warning()!, /updateSl/)
  })

  it('checks again when blocks were not told, without turning writes off for it', async () => {
    const { reason, note, noteGap, checked } = await open()
    await note([block(11, [], ['TradeTpUpdated'])])
    noteGap()
    assert.equal(reason(), undefined)
    remove('updateSl')
    await checked()
    assert.equal(reason(), 'diamond_changed')
    fake.functions.push('updateSl')
    noteGap()
    await checked()
    assert.equal(reason(), undefined)
  })

  it('names the last event that the ABI lacks with its block, and turns nothing off', async () => {
    const { reason, warning, note, stats } = await open()
    await note([block(11, [hashOf(1)]), block(12, [hashOf(2)]), block(13)])
    const named = `The Diamond emits an event that this build does not know: topic ${hashOf(2)}, last in block 12.`
    assert.deepEqual([reason(), warning(), stats().signsOfChange], [undefined, named, 2])
    await note([block(13, [CUT])])
    assert.deepEqual([warning(), stats().signsOfChange], [named, 3])
    await note([block(12)])
    assert.equal(warning(), undefined)
  })

  it('counts events that the ABI lacks by topic, within a bound', async () => {
    const { note, stats } = await open()
    const topics = Array.from({ length: 100 }, (_, at) => hashOf(at))
    await note([block(11, [...topics, topics[0]!, topicOf('TradeStored')])])
    const counts = stats().unknownTopics
    assert.deepEqual([counts.size, counts.get(topics[0]!), counts.get('other')], [65, 2, 36])
    assert.equal(logged.length, 64)
    assert.equal(stats().isChanged, false)
  })

  it('knows every event of the published ABI', async () => {
    const { note, stats } = await open()
    const { GNSMultiCollatDiamond__factory: published } = createRequire(import.meta.url)(
      '@gainsnetwork/sdk/lib/contracts/types/generated/factories/GNSMultiCollatDiamond__factory.js',
    ) as { readonly GNSMultiCollatDiamond__factory: { readonly abi: Abi } }
    const events = published.abi.filter((entry) => entry.type === 'event')
    assert.ok(events.length > 150)
    await note([
      block(
        11,
        events.map((event) => toEventSelector(event) as Hex),
      ),
    ])
    assert.deepEqual([...stats().unknownTopics], [])
  })

  it('takes every answer to a request for an execution', async () => {
    const { note, stats } = await open()
    const isAnswer = (name: string): boolean =>
      /(Executed|Canceled|Withdrawn|ManuallyRealized)$/.test(name) && !/^(TradingCallback|OpenLimit)/.test(name)
    for (const { name } of diamondAbi) {
      if (!isAnswer(name)) continue
      await note([block(11, [topicOf('PendingOrderStored')]), block(12, [topicOf(name)]), block(100)])
      assert.equal(stats().unansweredMs, 0, name)
    }
  })

  it('tells for how long requests were made and none was executed', async () => {
    const { note, stats } = await open()
    const seconds = (): number => stats().unansweredMs / 1_000
    await note([block(11, [topicOf('PendingOrderStored')]), block(12, [topicOf('PendingOrderStored')]), block(16)])
    assert.deepEqual([seconds(), stats().isStalled], [10, false])
    await note([block(17, [topicOf('TradingCallbackExecuted')]), block(18)])
    assert.deepEqual([seconds(), stats().isStalled], [14, true])
    assert.deepEqual(logged, ['error: no request is executed any more'])
    await note([block(19, [topicOf('MarketExecuted')]), block(40)])
    assert.deepEqual([seconds(), stats().isStalled], [0, false])
  })

  it('ends the time without an execution when the last request was reclaimed', async () => {
    const { note, stats } = await open()
    const user: `0x${string}` = `0x${'11'.repeat(20)}`
    const withEvent = (number: number, topic: Hex, event: Event): ChainBlock => {
      const at = block(number, [topic])
      return { ...at, transactions: at.transactions.map((one) => ({ ...one, events: [{ ...event, logIndex: 0 }] })) }
    }
    const ask = (number: number, index: number): ChainBlock => {
      const pendingOrder = { user, index, createdBlock: number } as Asked['args']['pendingOrder']
      return withEvent(number, topicOf('PendingOrderStored'), { name: 'PendingOrderStored', args: { pendingOrder } })
    }
    const reclaim = (number: number, index: number): ChainBlock => {
      const args = { pendingOrderId: { user, index }, pairIndex: 0n }
      return withEvent(number, topicOf('ChainlinkCallbackTimeout'), { name: 'ChainlinkCallbackTimeout', args })
    }
    await note([ask(11, 1), ask(12, 2), block(20)])
    assert.equal(stats().isStalled, true)
    await note([reclaim(21, 1)])
    assert.equal(stats().isStalled, true, 'one still waits')
    await note([reclaim(22, 2)])
    assert.deepEqual([stats().isStalled, stats().unansweredMs], [false, 0])
    await note([ask(23, 3), reclaim(24, 2), block(40)])
    assert.equal(stats().isStalled, true, 'it was reclaimed before')
  })
})
