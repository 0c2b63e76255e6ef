import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { createVirtualTerminal } from '@bezel/testkit/virtualTerminal.ts'
import type { PromptInput } from '../keys/readPassword.ts'
import { openScreen, type Screen } from './openScreen.ts'

/** Opens a screen on a virtual terminal. Everything that is written is kept, each write for itself. */
function open(columns = 12, rows = 3) {
  const terminal = createVirtualTerminal({ columns, rows })
  const size = { columns, rows }
  const writes: string[] = []
  const told = { leaves: 0, changes: 0, isRaw: false, isPaused: true }
  let onKeys: ((chunk: Buffer) => void) | undefined
  let onResize: (() => void) | undefined
  const input: PromptInput = {
    isTTY: true,
    setRawMode: (isRaw) => void (told.isRaw = isRaw),
    on: (_, listener) => void (onKeys = listener),
    off: () => void (onKeys = undefined),
    resume: () => void (told.isPaused = false),
    pause: () => void (told.isPaused = true),
  }
  const screen: Screen = openScreen({
    input,
    terminal: {
      size: () => ({ ...size }),
      write(text) {
        writes.push(text)
        terminal.write(text)
      },
      onResize(listener) {
        onResize = listener
        return () => void (onResize = undefined)
      },
    },
    onLeave: () => void (told.leaves += 1),
    onChange: () => void (told.changes += 1),
  })
  function resize(newColumns: number, newRows: number): void {
    Object.assign(size, { columns: newColumns, rows: newRows })
    terminal.resize(newColumns, newRows)
    onResize?.()
  }
  return { terminal, writes, told, screen, resize, press: (keys: string) => onKeys?.(Buffer.from(keys)) }
}

describe('openScreen', () => {
  it('takes the terminal over and gives it back as it was, once', () => {
    const { terminal, screen, told, writes, press } = open()
    assert.deepEqual([terminal.isAlternate, terminal.isCursorShown, terminal.isWrapping], [true, false, false])
    assert.deepEqual([told.isRaw, told.isPaused], [true, false])
    screen.close()
    screen.close()
    screen.draw(['late'])
    press('q')
    assert.deepEqual([terminal.isAlternate, terminal.isCursorShown, terminal.isWrapping], [false, true, true])
    assert.deepEqual([told.isRaw, told.isPaused, told.leaves, writes.length], [false, true, 0, 2])
  })

  it('writes a frame at once, and only the lines that changed', () => {
    const { writes, screen } = open()
    screen.draw(['one', 'two', 'three'])
    screen.draw(['one', 'TWO', 'three'])
    screen.draw(['one', 'TWO', 'three'])
    assert.equal(writes.length, 3, 'entering, the first frame, what changed')
    assert.equal(writes[2], '\u001b[?2026h\u001b[2;1HTWO\u001b[K\u001b[?2026l')
  })

  it('leaves with q and Ctrl-C, draws anew with Ctrl-L and in another size', () => {
    const { told, press, resize, screen, writes } = open()
    press('x')
    assert.equal(told.leaves, 0)
    press('q')
    press('\u0003')
    assert.equal(told.leaves, 2)
    screen.draw(['one'])
    press('\u000c')
    resize(20, 5)
    assert.equal(told.changes, 2)
    screen.draw(['one'])
    assert.ok(writes.at(-1)!.includes('\u001b[2J') && writes.at(-1)!.includes('one'))
  })

  it('shows the last frame, whatever was there before', () => {
    const lines = fc.array(fc.stringMatching(/^[ -~]{0,12}$/), { minLength: 3, maxLength: 3 })
    fc.assert(
      fc.property(fc.array(lines, { minLength: 1, maxLength: 5 }), fc.nat(5), (frames, resizedAt) => {
        const { terminal, screen, resize } = open()
        for (const [place, frame] of frames.entries()) {
          if (place === resizedAt) resize(14, 3)
          screen.draw(frame)
          assert.deepEqual(
            terminal.screen(),
            frame.map((line) => line.trimEnd()),
          )
        }
      }),
    )
  })
})
