import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createOutput, type Output } from './createOutput.ts'

function open(of: { isJson?: boolean; isTTY?: boolean } = {}): {
  output: Output
  out: () => string
  err: () => string
} {
  const said = { out: '', err: '' }
  const stream = (name: 'out' | 'err') => ({
    write: (text: string) => void (said[name] += text),
    isTTY: of.isTTY === true,
    columns: 40,
    rows: 4,
  })
  const output = createOutput({ stdout: stream('out'), stderr: stream('err'), env: {}, isJson: of.isJson === true })
  return { output, out: () => said.out, err: () => said.err }
}

describe('createOutput', () => {
  it('answers with JSON alone, or with lines alone', () => {
    const json = open({ isJson: true })
    json.output.answer({ a: 1 }, () => assert.fail('not asked for'))
    assert.deepEqual(JSON.parse(json.out()), { a: 1 })
    const text = open()
    text.output.answer({ a: 1 }, () => ['one', 'two'])
    assert.equal(text.out(), 'one\ntwo\n')
  })

  it('gives each event a line', () => {
    const { output, out } = open({ isJson: true })
    output.event({ a: 1 }, () => [])
    output.event({ a: '\n' }, () => [])
    assert.equal(out(), '{"a":1}\n{"a":"\\n"}\n')
  })

  it('keeps notes and progress off stdout', () => {
    const { output, out, err } = open({ isJson: true })
    output.note('n')
    output.progress('p')
    output.progress('p')
    output.progress('q')
    assert.equal(out(), '')
    assert.equal(err(), 'n\np\nq\n')
  })

  it('draws progress in place on a terminal, and clears it for what follows', () => {
    const { output, err } = open({ isTTY: true })
    output.progress('waiting')
    output.note('done')
    assert.equal(err(), '\r\u001b[2Kwaiting\r\u001b[2Kdone\n')
  })

  it('draws a table over the one before, and no more than fits', () => {
    const { output, out } = open({ isTTY: true })
    output.redraw(['1', '2', '3', '4', '5'])
    assert.equal(out(), '\u001b[2K1\n\u001b[2K2\n\u001b[2K3\n\u001b[J')
    output.redraw(['1'])
    assert.ok(out().endsWith('\u001b[3A\u001b[2K1\n\u001b[J'))
  })

  it('prints no secret, in any case of its letters', () => {
    const { output, out, err } = open()
    output.hide('abcdef12')
    output.answer({}, () => ['x 0xABCDEF12 y'])
    output.note('abcdef12')
    output.progress('abcdef12')
    assert.equal(out(), 'x 0x[hidden] y\n')
    assert.doesNotMatch(err(), /abcdef12/i)
  })
})
