import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { generatePrivateKey } from 'viem/accounts'
import { createInterruption } from './commands/interruption.ts'
import { runCli } from './runCli.ts'

/**
 * Runs a command line in this process, with an environment that has no local chain. Nothing here gets as far as
 * sending.
 */
async function run(line: string | readonly string[], env: Record<string, string> = {}) {
  const said = { stdout: '', stderr: '' }
  const stream = (name: keyof typeof said) => ({ write: (text: string) => void (said[name] += text) })
  const input = { on: () => undefined, off: () => undefined, resume: () => undefined, pause: () => undefined }
  const code = await runCli({
    argv: typeof line === 'string' ? line.split(' ') : line,
    env: { BEZEL_DATA: '/nowhere', DEBUG: '*', ...env },
    stdin: input,
    stdout: stream('stdout'),
    stderr: stream('stderr'),
    now: Date.now,
    interruption: createInterruption(),
  })
  return { code, ...said }
}

describe('runCli', () => {
  it('ends with 2 and a sentence for a wrong command line', async () => {
    const lines = {
      ordr: /Did you mean bezel order\?/,
      order: /needs MARKET/,
      'order BTC/USD up 1 --leverage 2': /SIDE is "up", but it must be long or short/,
      'order BTC/USD long zero --leverage 2': /SIZE is "zero"/,
      'order BTC/USD long -1 --leverage 2': /^-1 is below 0, and every number here must be above 0\./,
      'order BTC/USD long 1 --leverage -2': /--leverage is "-2", but it must be a number above 0/,
      'order BTC/USD long 1': /Which leverage\?/,
      'order BTC/USD long 1 --leverage 2 --limit 1 --stop 2': /Give one of them/,
      'close abc': /ids are whole numbers/,
      'set 3': /What is to change\?/,
      'set 3 --sl 5 --leverage 2': /one kind at a time/,
      'set 3 --add 0': /--add is "0"/,
      'change 3': /What is to change\?/,
      'amend 3 --price 0': /--price is "0"/,
      'approve USDC much': /AMOUNT is "much"/,
      'orders --limit 0': /--limit is "0"/,
      'orders --status done': /--status is "done", but it must be one of prepared, pending, open, timed_out/,
      'orders --history --market btc': /select open orders/,
      'positions --market b!c': /is no market/,
      book: /needs MARKET/,
      'book btc --levels 31': /whole number from 1 to 30/,
      'candles btc --interval 2h': /--interval is "2h", but it must be one of 1m, /,
      'notices dismiss': /Which notice\?/,
      'notices dismiss 1 x': /ID is "x"/,
      'notices dismiss 1 --all': /leave the id away/,
      'completion tcsh': /SHELL is "tcsh", but it must be one of bash, zsh, fish/,
      'watch --after x': /--after is "x"/,
      'watch --markets btc': /for the prices of watch --screen/,
      'watch --screen': /draws on a terminal, and stdout is none/,
      'agent authorise --expires yesterday': /--expires is "yesterday"/,
      '--as trader-1 positions': /none is found here/,
    }
    for (const [line, expected] of Object.entries(lines)) {
      const { code, stdout, stderr } = await run(line)
      assert.equal(code, 2, `${line}: ${stderr}`)
      assert.equal(stdout, '')
      assert.match(stderr, expected)
    }
  })

  it('says the same in JSON, as one document', async () => {
    const { code, stdout, stderr } = await run('order BTC/USD up 1 --leverage 2 --json')
    const { error } = JSON.parse(stdout) as { error: { code: string; exitCode: number; message: string } }
    assert.deepEqual([error.code, error.exitCode, code], ['USAGE', 2, 2])
    assert.ok(stderr.startsWith(error.message))
  })

  it('ends with 7 where a key is missing or malformed', async () => {
    for (const line of ['positions', 'agent status', 'key issue', 'agent authorise']) {
      const { code, stderr } = await run(line)
      assert.equal(code, 7, stderr)
      assert.match(stderr, /needs the (?:agent|trader)'s key: name a keystore with --(?:trader-)?keystore/)
      assert.match(stderr, /No local chain is described in \S+, so its keys are not used: BEZEL_DATA names another/)
    }
    const { code, stderr } = await run('positions', { BEZEL_AGENT_KEY: 'deadbeef' })
    assert.equal(code, 7)
    assert.doesNotMatch(stderr, /deadbeef/)
  })

  it('spells commands of remedies with the options that were typed, and as it was started', async () => {
    const elsewhere = 'positions --market b!c --chain base --url http://127.0.0.1:9'
    const { stderr } = await run(elsewhere, { npm_command: 'exec' })
    assert.match(stderr, / npx bezel markets --chain base --url http:\/\/127\.0\.0\.1:9 lists them\.$/m)
    const { stdout } = await run('positions --market b!c --keystore ./k.json --json')
    const { error } = JSON.parse(stdout) as { error: { message: string } }
    assert.match(error.message, / bezel markets --keystore \.\/k\.json lists them\.$/)
  })

  it('repeats no argument that may be a key', async () => {
    const key = generatePrivateKey()
    for (const line of [
      ['order', key],
      ['--json', key],
      ['agent', 'status', `--private-key=${key}`],
      ['positions', '--keystore', key],
    ]) {
      const { code, stdout, stderr } = await run(line)
      assert.equal(code, 2)
      assert.ok(!`${stdout}${stderr}`.includes(key.slice(2, 20)))
    }
  })

  it('helps on stdout', async () => {
    for (const line of ['--help', 'agent --help', 'order --help']) {
      const { code, stdout, stderr } = await run(line)
      assert.deepEqual([code, stderr], [0, ''])
      assert.match(stdout, /bezel/)
    }
    assert.match((await run('--version')).stdout, /^\d+\.\d+\.\d+\n$/)
    assert.deepEqual(Object.keys(JSON.parse((await run('--help --json')).stdout)), ['help'])
  })
})
