import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { startTradingWorld, type TradingWorld } from '@bezel/testkit/tradingWorld.ts'
import { COMMANDS } from '../../packages/cli/src/runCli.ts'
import { lastingPort } from '@bezel/testkit/lastingPort.ts'
import { BEZEL, createBezelCommand, type BezelCommand } from './bezelCommand.ts'
import { findPython, startOnTerminal, type OnTerminal } from './terminal/startOnTerminal.ts'
import { keep, openSession, type ShownCommand, type TerminalSession } from './terminal/terminalSession.ts'

const python = findPython()
const skip = python === undefined ? 'THE COMMAND LINE IS NOT TESTED ON A TERMINAL: there is no python3 here' : false

const CTRL_C = '\u0003'
const PASSWORD = 'Zp4-fits-well'

/** A module that makes the program crash at a signal. */
const CRASHER = 'data:text/javascript,process.on("SIGUSR2",()=>{throw new Error("a bug")})'

describe('the command line on a terminal', { skip }, () => {
  let world: TradingWorld
  let bezel: BezelCommand

  before(async () => {
    // The port stays the same after a restart, so that a screen finds the service again.
    const port = await lastingPort()
    world = await startTradingWorld({ service: { PORT: String(port) } })
    bezel = createBezelCommand(world)
  })
  after(async () => {
    bezel?.close()
    await world?.stop()
  })

  const envOf = (extra: Record<string, string> = {}): Record<string, string> => ({
    TERM: 'xterm-256color',
    HOME: bezel.home,
    BEZEL_DATA: world.devnet.folder,
    BEZEL_URL: world.url(),
    ...extra,
  })

  /** Gives a command that must succeed, in this process. */
  async function must(line: string) {
    const done = await bezel.run(`${line} --json`)
    assert.equal(done.code, 0, `bezel ${line}: ${done.stderr}`)
    return done.json
  }

  it('shows every command at 80 and at 200 columns', async () => {
    const walks = [80, 200].map(async (columns, place) => {
      const session = openSession({ python: python!, columns, home: bezel.home, env: envOf() })
      try {
        await walk(session, `trader-${place + 1}/agent-${place + 1}`, join(bezel.home, `${columns}.json`))
        const missed = COMMANDS.filter(({ name }) => !session.lines.some((line) => isOf(line, name)))
        assert.deepEqual(
          missed.map(({ name }) => name),
          [],
          'every command is given here',
        )
      } finally {
        await session.close()
      }
    })
    // Both end before the next story moves the price.
    const failed = (await Promise.allSettled(walks)).find(({ status }) => status === 'rejected')
    if (failed !== undefined) throw (failed as PromiseRejectedResult).reason
  })

  async function walk(session: TerminalSession, as: string, keystore: string): Promise<void> {
    const give = async (line: string, ...replies: Parameters<TerminalSession['run']>[1][]): Promise<ShownCommand> => {
      const shown = await session.run(`${line} --as ${as}`, ...replies)
      assert.equal(shown.code, 0, `bezel ${line}:\n${shown.text}`)
      return shown
    }
    await session.run('--help')
    for (const { name } of COMMANDS) await session.run(`${name} --help`)
    for (const line of ['markets', 'price --once', 'book BTC/USD', 'candles BTC/USD --interval 1m', 'funding'])
      await give(line)
    await give('price BTC/USD ETH/USD', [/BTC\/USD +60000/, CTRL_C])
    const made = await give(`agent new ${keystore}`, [/new key:/, `${PASSWORD}\r`], [/again:/, `${PASSWORD}\r`])
    assert.doesNotMatch(made.text, new RegExp(PASSWORD))
    assert.ok(made.text.includes(keystore))
    for (const line of ['agent authorise', 'agent delegate', 'agent status']) await give(line)
    for (const line of ['key issue', 'key list', 'key revoke cli']) await give(line)
    await give('approve USDC 1000000')
    await give('preview order BTC/USD long 0.02 --leverage 10 --sl 56000')
    const order = await give('order BTC/USD long 0.02 --leverage 10 --sl 56000')
    const position = /^Position +(\d+)$/m.exec(order.text)![1]!
    const rests = await give(
      'order BTC/USD short 0.12345 --leverage 7.5 --limit 65432.1 --sl 70000 --client-id a-name-of-my-own',
    )
    const resting = /^Order +(\d+) open$/m.exec(rests.text)![1]!
    await give(`change ${resting} --price 65500.5`)
    await give(`set ${position} --tp 70000`)
    await give(`preview position ${position} --leverage 5`)
    await give(`preview close ${position}`)
    await isTrue('positions')
    await isTrue('orders')
    await isTrue('orders --history')
    await isTrue('account')
    const refused = await session.run(`reclaim ${position} --as ${as}`)
    assert.equal(refused.code, 3, refused.text)
    await give(`cancel ${resting}`)
    await give(`close ${position} --size 0.01`)
    await give('flatten')
    for (const line of ['fills', 'fills --all', `export ${keystore}.books`]) await give(line)
    for (const line of ['audit', 'notices', 'notices dismiss --all']) await give(line)
    await give('watch --after 0', [/filled[^]*positions: none open/, CTRL_C])
    await give('watch --screen --markets BTC/USD', [/^live /m, 'q'])
    await give('watch --screen', [/^live /m, CTRL_C])
    await give('completion bash')
    await give('agent revoke')

    /** Gives a command that lists things: each id is there, and each number is the nearest to what it stands for. */
    async function isTrue(line: string): Promise<void> {
      const read = (): Promise<unknown> => must(`${line} --as ${as}`)
      const earlier = await read()
      const { text } = await give(line)
      const later = await read()
      for (const id of JSON.stringify(later).matchAll(/"id":"(\d+)"/g)) assert.match(text, new RegExp(`\\b${id[1]}\\b`))
      assert.deepEqual(untrueNumbers(text, earlier, later), [], `bezel ${line}:\n${text}`)
    }
  }

  it('shows the account on a whole screen, and gives the terminal back', async () => {
    const as = '--as trader-3/agent-3'
    await must(`agent authorise ${as}`)
    const { fill } = await must(`order BTC/USD long 0.02 --leverage 10 --sl 56000 ${as}`)
    const { id: orderId } = await must(`order BTC/USD short 0.05 --leverage 5 --limit 65000 ${as}`)
    const screen = open(as, { columns: 80, rows: 24 })
    const shows = (pattern: RegExp): Promise<void> =>
      screen.until(`the screen shows ${pattern}`, ({ screen: rows }) => pattern.test(rows().join('\n')))
    await shows(new RegExp(`^${fill.positionId} +BTC/USD +long +0\\.0\\d+ `, 'm'))
    await shows(new RegExp(`^${orderId} +BTC/USD +short +limit +0\\.05 +65000 +open`, 'm'))
    await shows(/^live +\d\d:\d\d:\d\d UTC {2}q leaves$/m)
    await shows(/fill of order \d+: BTC\/USD long/)
    const { terminal } = screen
    assert.deepEqual([terminal.isAlternate, terminal.isCursorShown, terminal.hasColours], [true, false, true])
    keep('screen', '80', terminal.screen().join('\n'))

    await world.moveTo(60_900)
    const [valued] = await must(`positions ${as}`)
    await screen.until('the profit follows the price', () => {
      const found = /^\d+ +BTC\/USD +long +\S+ +(-?[\d.]+) USDC +60900 /m.exec(terminal.screen().join('\n'))
      // Fees that accrue meanwhile are less than this.
      return found !== null && Math.abs(Number(found[1]) - Number(valued.unrealizedPnl)) < 0.01
    })
    await must(`order ETH/USD short 0.5 --leverage 5 ${as}`)
    await shows(/^\d+ +ETH\/USD +short /m)

    screen.resize(200, 50)
    await screen.until('the frame fills the new size', ({ screen: rows }) => / UTC {2}q leaves$/.test(rows()[49]!))
    await shows(/^POSITION .* LEV$/m)
    keep('screen', '200', terminal.screen().join('\n'))
    screen.resize(40, 10)
    await screen.until('the frame fits the small size', ({ screen: rows }) => rows()[9]!.endsWith('q leaves'))
    keep('screen', '40', terminal.screen().join('\n'))
    screen.resize(80, 24)

    await world.stopService()
    await shows(/^connection lost, trying again/m)
    keep('screen', 'lost', terminal.screen().join('\n'))
    await world.startService()
    await shows(/^live /m)
    await must(`cancel ${orderId} ${as}`)
    await shows(new RegExp(`order ${orderId} canceled`))
    screen.type('q')
    assert.equal(await screen.ended, 0)
    assertGivenBack(screen)
    await world.moveTo(60_000)
  })

  it('gives the terminal back after a signal, a crash, a hang-up and the end of the rights', async () => {
    const as = '--as trader-4/agent-4'
    await must(`agent authorise ${as}`)
    const [ended, crashed, gone, revoked] = Array.from({ length: 4 }, () =>
      open(as, { columns: 80, rows: 24, env: { NO_COLOR: '1' } }),
    ) as [OnTerminal, OnTerminal, OnTerminal, OnTerminal]
    for (const screen of [ended, crashed, gone, revoked]) {
      await screen.until('the screen is there', ({ screen: rows }) => /^live /m.test(rows().join('\n')))
    }
    assert.ok(!ended.terminal.hasColours)
    ended.signal('SIGTERM')
    crashed.signal('SIGUSR2')
    gone.hangUp()
    assert.deepEqual([await ended.ended, await crashed.ended], [0, 1])
    await gone.ended
    for (const screen of [ended, crashed]) assertGivenBack(screen)
    assert.match(crashed.terminal.screen().join('\n'), /^Something unexpected happened: a bug\./)
    await must(`agent revoke ${as}`)
    assert.equal(await revoked.ended, 3)
    assertGivenBack(revoked)
    assert.match(revoked.terminal.screen().join('\n'), /^AGENT_(?:REVOKED|UNKNOWN|NOT_DELEGATED): /)
  })

  it('refuses to draw where there is no terminal', async () => {
    const { code, stdout, stderr } = await bezel.run('watch --screen --as trader-3/agent-3')
    assert.deepEqual([code, stdout], [2, ''])
    assert.match(stderr, /draws on a terminal, and stdout is none/)
  })

  /** Starts the real program with its screen. */
  function open(as: string, of: { columns: number; rows: number; env?: Record<string, string> }): OnTerminal {
    const { PATH, NODE_COMPILE_CACHE } = process.env
    const command = [process.execPath, '--import', CRASHER, BEZEL, 'watch', '--screen', ...as.split(' ')]
    return startOnTerminal(python!, command, {
      columns: of.columns,
      rows: of.rows,
      cwd: bezel.home,
      env: { PATH, NODE_COMPILE_CACHE, ...envOf(of.env) },
    })
  }
})

function assertGivenBack({ terminal }: OnTerminal): void {
  assert.deepEqual([terminal.isAlternate, terminal.isCursorShown, terminal.isWrapping], [false, true, true])
}

function isOf(line: string, name: string): boolean {
  return line.startsWith(`${name} `) && !line.startsWith(`${name} --help`)
}

/**
 * Returns the numbers with decimals in a text that are not the nearest, with so many decimals, to any number of a
 * document. The document was read before and after the text, because fees grow all the time.
 */
function untrueNumbers(text: string, earlier: unknown, later: unknown): string[] {
  const [first, second] = [numbersIn(earlier), numbersIn(later)]
  assert.equal(first.length, second.length)
  const shown = text.match(/(?<![\w.:/-])-?\d+\.\d+(?![\w.])/g) ?? []
  return shown.filter((number) => {
    const half = 0.500001 / 10 ** number.split('.')[1]!.length
    return !first.some((value, place) => {
      const [low, high] = [value, second[place]!].toSorted((a, b) => a - b)
      return Number(number) >= low! - half && Number(number) <= high! + half
    })
  })
}

/** Returns every number of a JSON document, in their order. */
function numbersIn(document: unknown): number[] {
  if (typeof document === 'string') return /^-?\d+(?:\.\d+)?$/.test(document) ? [Number(document)] : []
  if (typeof document === 'object' && document !== null) return Object.values(document).flatMap(numbersIn)
  return []
}
