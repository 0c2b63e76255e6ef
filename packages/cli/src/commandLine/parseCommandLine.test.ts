import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { COMMANDS } from '../runCli.ts'
import { UsageError } from '../errors/cliError.ts'
import { parseCommandLine, type Invocation } from './parseCommandLine.ts'

const parse = (line: string): Invocation => parseCommandLine(line === '' ? [] : line.split(' '), COMMANDS)

function command(line: string): Extract<Invocation, { kind: 'command' }> {
  const asked = parse(line)
  assert.equal(asked.kind, 'command')
  return asked as Extract<Invocation, { kind: 'command' }>
}

function complaint(line: string): string {
  try {
    parse(line)
  } catch (error) {
    assert.ok(error instanceof UsageError)
    return `${error.message}\n${error.more ?? ''}`
  }
  return assert.fail(`${line} was not refused`)
}

describe('parseCommandLine', () => {
  it('finds the command, its operands and options, wherever options stand', () => {
    for (const line of [
      'order BTC/USD long 0.02 --leverage 10 --json',
      '--json order BTC/USD long 0.02 --leverage=10',
      '--json order --leverage 10 BTC/USD long 0.02',
    ]) {
      const { command: found, args } = command(line)
      assert.equal(found.name, 'order')
      assert.deepEqual(args.operands, ['BTC/USD', 'long', '0.02'])
      assert.equal(args.text('leverage'), '10')
      assert.equal(args.text('limit'), undefined)
      assert.ok(args.flag('json'))
      assert.ok(!args.flag('reduce-only'))
    }
  })

  it('finds commands of two words, also after options with values and by the other spelling', () => {
    assert.equal(command('--url http://x agent status').command.name, 'agent status')
    assert.equal(command('agent authorize --name x').command.name, 'agent authorise')
    assert.deepEqual(command('agent status 0x1').args.operands, ['0x1'])
  })

  it('every command is found by its name and has help', () => {
    for (const { name, operands, examples } of COMMANDS) {
      const line = [name, ...operands.map(() => '1')].join(' ')
      assert.equal(command(line).command.name, name)
      const help = parse(`${name} --help`)
      assert.equal(help.kind, 'help')
      assert.match(help.kind === 'help' ? help.text : '', new RegExp(`^bezel ${name}: `))
      for (const example of examples) assert.equal(command(example).command.name, name)
    }
  })

  it('guesses what was meant', () => {
    assert.match(complaint('oder'), /"oder".*Did you mean bezel order\?/)
    assert.match(complaint('agent stauts'), /Did you mean bezel agent status\?/)
    assert.match(complaint('agnet new'), /Did you mean bezel agent/)
    assert.match(complaint('markets --jsno'), /no option --jsno here\. Did you mean --json\?\nUsage: bezel markets/)
    assert.match(complaint('xyzzy'), /The commands are:\n {2}bezel markets\n/)
  })

  it('refuses what is missing, too much, twice or without a value', () => {
    assert.match(complaint('reclaim'), /bezel reclaim needs POSITION: .*\nUsage: bezel reclaim POSITION \[options\]/)
    assert.match(complaint('close 1 2'), /"2" is one word too many/)
    assert.match(complaint('markets --url a --url b'), /--url is there twice/)
    assert.match(complaint('close 1 --size'), /--size needs a value: --size SIZE/)
    assert.match(complaint('close 1 --size --json'), /--size needs a value/)
    assert.match(complaint('markets --json=1'), /--json takes no value/)
    for (const number of ['-1', '-0.5', '-.5', '-12'])
      assert.ok(complaint(`order BTC/USD long ${number} --leverage 2`).startsWith(`${number} is below 0, and every`))
    assert.equal(command('close 1 --size -1').args.text('size'), '-1', 'the command says what is wrong with it')
    assert.match(complaint('agent'), /bezel agent needs one more word/)
    assert.match(complaint('--json'), /Which command\?/)
  })

  it('helps in every way people ask for it', () => {
    for (const line of ['', '--help', '-h', 'help']) {
      const asked = parse(line)
      assert.equal(asked.kind, 'help', line)
      assert.match(asked.kind === 'help' ? asked.text : '', /Exit codes:\n {2}0 {4}done/)
    }
    for (const line of ['help order', 'order -h', 'agent --help']) assert.equal(parse(line).kind, 'help', line)
    assert.equal(parse('--version').kind, 'version')
  })

  it('names no option that takes a key', () => {
    const names = COMMANDS.flatMap(({ options }) => Object.keys(options))
    assert.ok(names.length > 10)
    assert.deepEqual(
      names.filter((name) => /key|secret|password/.test(name)),
      [],
    )
  })
})
