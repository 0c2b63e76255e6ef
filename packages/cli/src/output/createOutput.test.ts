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
  const typing = { program: 'npx bezel', options: ['--as trader-2'] }
  const streams = { stdout: stream('out'), stderr: stream('err') }
  const output = createOutput({ ...streams, env: {}, isJson: of.isJson === true, typing })
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

  it('breaks notes at their spaces on a narrow terminal, and painted ones that fit not at all', () => {
    const note = 'one two three four five six seven eight nine'
    const narrow = open({ isTTY: true })
    narrow.output.note(note)
    narrow.output.note(`\u001b[2m${note.slice(0, 40)}\u001b[0m`)
    assert.equal(
      narrow.err(),
      `one two three four five six seven eight\nnine\n\u001b[2m${note.slice(0, 40)}\u001b[0m\n`,
    )
    const none = open()
    none.output.note(note)
    assert.equal(none.err(), `${note}\n`)
  })

  it('spells the commands of notes as the user types them', () => {
    const { output, err } = open()
    output.note('Look with `bezel positions`')
    assert.equal(err(), 'Look with npx bezel positions --as trader-2\n')
    const narrow = open({ isTTY: true })
    narrow.output.note('Half of a command is another: `bezel positions`')
    assert.equal(narrow.err(), 'Half of a command is another:\nnpx bezel positions --as trader-2\n')
  })

  it('prints lines that fit already as they are, beside the answer', () => {
    const { output, out, err } = open({ isTTY: true })
    output.noteLines(['a line of fields is longer than these forty columns', 'b'])
    output.noteLines([])
    assert.deepEqual([out(), err()], ['', 'a line of fields is longer than these forty columns\nb\n'])
  })

  it('lets commands draw on a terminal that can be drawn on, without secrets', () => {
    assert.equal(open().output.terminal, undefined)
    assert.equal(open({ isTTY: true, isJson: true }).output.terminal, undefined)
    const { output, out } = open({ isTTY: true })
    output.hide('abcdef12')
    output.terminal!.write('x abcdef12')
    assert.deepEqual([out(), output.terminal!.size()], ['x [hidden]', { columns: 40, rows: 4 }])
  })

  it('draws a table over the one before, and no more than fits', () => {
    const { output, out } = open({ isTTY: true })
    output.redraw(['1', '2', '3', '4', '5'])
    assert.equal(out(), '\u001b[2K1\n\u001b[2K2\n\u001b[2K3 more lines do not fit\n\u001b[J')
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
