import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createVirtualTerminal } from './virtualTerminal.ts'

describe('createVirtualTerminal', () => {
  it('shows lines, and scrolls what does not fit away without losing it', () => {
    const terminal = createVirtualTerminal({ columns: 10, rows: 2 })
    terminal.write('one\r\ntwo\r\nthree')
    assert.deepEqual(terminal.screen(), ['two', 'three'])
    assert.deepEqual(terminal.transcript(), ['one', 'two', 'three'])
    terminal.forget()
    assert.deepEqual(terminal.transcript(), ['', ''])
  })

  it('tells which lines are too wide, not those that just fit', () => {
    const terminal = createVirtualTerminal({ columns: 5, rows: 4 })
    terminal.write('12345\r\n123456\r\n')
    assert.deepEqual(terminal.screen(), ['12345', '12345', '6', ''])
    assert.deepEqual(terminal.wrapped(), ['12345'])
    terminal.write('\u001b[?7labcdefg\u001b[?7h')
    assert.equal(terminal.screen()[3], 'abcdg')
    assert.equal(terminal.wrapped().length, 1)
  })

  it('draws over, erases and moves, as terminals do', () => {
    const terminal = createVirtualTerminal({ columns: 10, rows: 3 })
    terminal.write('waiting\r\u001b[2Kdone\r\nx\u001b[1A\u001b[2K!\u001b[3;4Hend\u001b[3;5H\u001b[K')
    assert.deepEqual(terminal.screen(), [' !', 'x', '   e'])
    terminal.write('\u001b[1;1H\u001b[J')
    assert.deepEqual(terminal.screen(), ['', '', ''])
  })

  it('erases the last character of a full row, as terminals do', () => {
    const terminal = createVirtualTerminal({ columns: 4, rows: 1 })
    terminal.write('1234\u001b[K')
    assert.deepEqual(terminal.screen(), ['123'])
  })

  it('keeps the main screen below the alternate one', () => {
    const terminal = createVirtualTerminal({ columns: 10, rows: 2 })
    terminal.write('before\u001b[?1049h\u001b[?25l\u001b[1;1Hscreen')
    assert.deepEqual([terminal.screen()[0], terminal.isAlternate, terminal.isCursorShown], ['screen', true, false])
    terminal.resize(20, 4)
    assert.equal(terminal.screen().length, 4)
    terminal.write('\u001b[?25h\u001b[?1049l after')
    assert.deepEqual(
      [terminal.screen()[0], terminal.isAlternate, terminal.isCursorShown],
      ['before after', false, true],
    )
  })

  it('reads sequences that come in pieces, and hides reports', () => {
    const terminal = createVirtualTerminal({ columns: 10, rows: 1 })
    for (const part of ['a\u001b', '[3', '1mb\u001b[0', 'm\u001b]9;en', 'd\u0007c']) terminal.write(part)
    assert.deepEqual(terminal.screen(), ['abc'])
    assert.deepEqual(terminal.reports, ['9;end'])
    assert.ok(terminal.hasColours)
  })

  it('knows nothing that it does not know', () => {
    const terminal = createVirtualTerminal({ columns: 10, rows: 1 })
    assert.throws(() => terminal.write('\u001b[5n'), /unknown sequence/)
    assert.throws(() => createVirtualTerminal({ columns: 1, rows: 1 }).write('\u001b[?2004h'), /unknown mode 2004/)
  })
})
