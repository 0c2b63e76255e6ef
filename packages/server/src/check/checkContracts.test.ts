import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { errorsAbi, tokenErrorsAbi, type MarketSymbol, type Price } from '@bezel/protocol'
import { encodeErrorResult, parseAbi } from 'viem'
import { USED_TOPICS } from '../chain/events.ts'
import { judgeDryOpen, judgeEvents, judgePrices } from './checkContracts.ts'

describe('judgeDryOpen', () => {
  const judge = (data: unknown, message = 'execution reverted') =>
    judgeDryOpen({ ok: false, code: 3, message, data }, 'the open')
  const custom = (errorName: string) => encodeErrorResult({ abi: errorsAbi, errorName } as never)
  const text = (words: string) =>
    encodeErrorResult({ abi: parseAbi(['error Error(string)']), errorName: 'Error', args: [words] })

  it('is understood where only funds are missing', () => {
    const owner = `0x${'1'.repeat(40)}` as const
    const short = encodeErrorResult({
      abi: tokenErrorsAbi,
      errorName: 'ERC20InsufficientAllowance',
      args: [owner, 0n, 1n],
    })
    for (const data of [short, custom('InsufficientBalance'), text('ERC20: transfer amount exceeds balance')]) {
      assert.deepEqual(judge(data), {
        check: 'dry open',
        mark: 'ok',
        text: 'The contracts understood the open: they refuse it only for lack of funds. Nothing was sent.',
      })
    }
  })

  it('is understood where the contracts refuse it by another error that they have', () => {
    const { mark, text: told } = judge(custom('WrongLeverage'))
    assert.deepEqual([mark, /refuse it with WrongLeverage\./.test(told)], ['ok', true])
  })

  it('is not understood by a Diamond without the function, or with an error that nobody knows', () => {
    for (const data of [custom('NotFound'), '0x12345678', `0x4e487b71${'0'.repeat(62)}41`]) {
      assert.equal(judge(data).mark, 'failure', data)
    }
  })

  it('proves nothing without a reason, or when the node can not run it', () => {
    assert.match(judge(undefined).text, /without a reason/)
    assert.equal(judge('0x').mark, 'warning')
    const busy = judgeDryOpen({ ok: false, code: -32000, message: 'header not found', data: undefined }, 'the open')
    assert.deepEqual([busy.mark, /\(header not found\): run the check again/.test(busy.text)], ['warning', true])
    assert.equal(judgeDryOpen({ ok: true, result: '0x' }, 'the open').mark, 'note')
  })
})

describe('judgePrices', () => {
  const pairs = Array.from({ length: 8 }, (_, pairIndex) => ({
    pairIndex,
    symbol: `P${pairIndex}/USD` as MarketSymbol,
  }))
  const pricesOf = (count: number) => new Map(pairs.slice(0, count).map(({ pairIndex }) => [pairIndex, 1n as Price]))

  it('names up to five pairs without a price', () => {
    assert.equal(judgePrices(pairs, pricesOf(8)).mark, 'ok')
    const { mark, text } = judgePrices(pairs, pricesOf(6))
    assert.deepEqual([mark, text.includes('none of P6/USD, P7/USD:')], ['warning', true])
    assert.match(
      judgePrices(pairs, pricesOf(1)).text,
      /none of P1\/USD, P2\/USD, P3\/USD, P4\/USD, P5\/USD and 2 more:/,
    )
  })

  it('fails without any price or pair, and leaves a silent feed to its own line', () => {
    assert.equal(judgePrices(pairs, pricesOf(0)).mark, 'failure')
    assert.equal(judgePrices([], pricesOf(1)).mark, 'failure')
    assert.equal(judgePrices(pairs, undefined).mark, 'note')
  })
})

describe('judgeEvents', () => {
  const topics = [...USED_TOPICS.keys()].map((topic) => topic.slice(2))
  const [first, ...others] = topics

  it('finds topics in any of the codes', () => {
    assert.equal(judgeEvents([`0x60${first}7f`, `0x${others.join('7f')}`], true).mark, 'ok')
  })

  it('warns of missing ones on a live Diamond, or where most are missing', () => {
    const code = `0x${others.join('7f')}`
    const name = [...USED_TOPICS.values()][0]!
    assert.deepEqual([judgeEvents([code], true).mark, judgeEvents([code], false).mark], ['warning', 'note'])
    assert.ok(judgeEvents([code], true).text.includes(name))
    assert.equal(judgeEvents(['0x'], false).mark, 'warning')
  })
})
