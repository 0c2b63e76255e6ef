import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { effect } from '@preact/signals'
import { createPriceBoard } from './priceBoard.ts'

const price = (market: string, mark: string) => ({ market, mark, index: mark, updatedAt: 1 })

function createFrames() {
  const waiting: (() => void)[] = []
  const board = createPriceBoard((draw) => waiting.push(draw))
  const frame = (): number => waiting.splice(0).map((draw) => draw()).length
  return { board, frame }
}

describe('the prices of the page', () => {
  it('appear once per frame, and only the last of a market', () => {
    const { board, frame } = createFrames()
    const seen: (string | undefined)[] = []
    effect(() => void seen.push(board.priceOf('BTC/USD').value?.mark))
    for (let tick = 1; tick <= 10; tick += 1) board.take([price('BTC/USD', String(tick))])
    assert.deepEqual(seen, [undefined])
    assert.equal(frame(), 1)
    assert.deepEqual(seen, [undefined, '10'])
    assert.equal(frame(), 0)
  })

  it('of fifty markets at four updates a second draw each market once per update', () => {
    const { board, frame } = createFrames()
    const symbols = Array.from({ length: 50 }, (_none, place) => `M${place}/USD`)
    let drawn = 0
    for (const symbol of symbols) {
      effect(() => {
        if (board.priceOf(symbol).value !== null) drawn += 1
      })
    }
    let frames = 0
    for (let tick = 0; tick < 4; tick += 1) {
      // An update may come in parts.
      board.take(symbols.slice(0, 25).map((symbol) => price(symbol, String(tick))))
      board.take(symbols.slice(25).map((symbol) => price(symbol, String(tick))))
      frames += frame()
    }
    assert.deepEqual([frames, drawn], [4, 200])
  })

  it('wait without growing while the page is hidden and draws nothing', () => {
    const { board, frame } = createFrames()
    for (let tick = 0; tick < 1_000; tick += 1) board.take([price('BTC/USD', String(tick))])
    assert.equal(frame(), 1)
    assert.equal(board.priceOf('BTC/USD').value?.mark, '999')
  })

  it('are gone on another chain, also those that waited', () => {
    const { board, frame } = createFrames()
    board.take([price('BTC/USD', '1')])
    frame()
    board.take([price('BTC/USD', '2')])
    board.clear()
    frame()
    assert.equal(board.priceOf('BTC/USD').value, null)
  })
})
