import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { createInterruption } from './commands/interruption.ts'
import { COMMANDS, runCli } from './runCli.ts'

interface Operation {
  readonly responses: Readonly<
    Record<string, { readonly content?: { readonly 'application/json'?: { readonly example?: unknown } } }>
  >
}

/** The reference, whose examples were recorded from a real run. */
const { paths } = JSON.parse(
  readFileSync(new URL('../../../docs/reference/openapi.json', import.meta.url), 'utf8'),
) as {
  readonly paths: Readonly<Record<string, { readonly get?: Operation }>>
}

/** Commands that only read, so that a service of recorded answers can serve them. */
const READS = [
  'markets',
  'price --once',
  'book btc',
  'candles btc',
  'funding',
  'agent status 0x00000000000000000000000000000000000000A1',
  'account',
  'orders',
  'orders --history',
  'positions',
  'fills',
  'audit',
  'notices',
  'preview order BTC/USD long 0.02 --leverage 10',
  'preview close 3',
  'preview position 3 --sl 58000',
]

const NARROW = [40, 60, 80, 100, 120, 200]

describe('terminals of every width', () => {
  let service: Server

  before(async () => {
    service = createServer((request, response) => {
      const path = decodeURIComponent(request.url!.split('?')[0]!).replace('BTC/USD', 'BTC-USD')
      const found = Object.entries(paths).find(([template]) => patternOf(template).test(path))
      const example = found?.[1].get?.responses['200']?.content?.['application/json']?.example
      response.writeHead(example === undefined ? 404 : 200, { 'content-type': 'application/json' })
      response.end(JSON.stringify(example ?? { code: 'NOT_FOUND', message: `No ${path}.` }))
    })
    service.listen(0, '127.0.0.1')
    await new Promise((resolve) => service.once('listening', resolve))
  })
  after(() => {
    service.closeAllConnections()
    service.close()
  })

  /** Runs a command line on a terminal of a width; without one the output is no terminal. */
  async function linesOf(line: string, columns?: number): Promise<string[]> {
    const said = { stdout: '', stderr: '' }
    const stream = (name: keyof typeof said) => ({
      write: (text: string) => void (said[name] += text),
      isTTY: columns !== undefined,
      columns,
    })
    const input = { on: () => undefined, off: () => undefined, resume: () => undefined, pause: () => undefined }
    const code = await runCli({
      argv: line.split(' '),
      env: {
        BEZEL_DATA: '/nowhere',
        BEZEL_URL: `http://127.0.0.1:${(service.address() as AddressInfo).port}`,
        BEZEL_CHAIN: 'arbitrum-sepolia',
        BEZEL_API_KEY: 'bz_recorded',
        BEZEL_TRADER: '0x00000000000000000000000000000000000000A2',
        NO_COLOR: '1',
      },
      stdin: input,
      stdout: stream('stdout'),
      stderr: stream('stderr'),
      now: Date.now,
      interruption: createInterruption(),
    })
    assert.equal(code, 0, `${line}: ${said.stderr}`)
    return said.stdout.trimEnd().split('\n')
  }

  for (const line of READS) {
    it(`show every number, id and address of bezel ${line}`, async () => {
      const wide = numbersIn(await linesOf(line))
      assert.ok(wide.size > 0)
      for (const columns of NARROW) {
        const lines = await linesOf(line, columns)
        assert.deepEqual(numbersIn(lines), wide, `at ${columns}`)
        const tooLong = lines.filter((text) => text.length > columns && columns >= 80)
        assert.deepEqual(tooLong, [], `at ${columns}`)
      }
    })
  }

  it('show the whole help text', async () => {
    for (const line of ['--help', ...COMMANDS.map(({ name }) => `${name} --help`)]) {
      const wide = (await linesOf(line)).join(' ').split(/\s+/)
      const lines = await linesOf(line, 80)
      assert.deepEqual(lines.join(' ').split(/\s+/), wide)
      assert.deepEqual(
        lines.filter((text) => text.length > 80),
        [],
      )
    }
  })

  it('show the rest of a long example as a part of it', async () => {
    const lines = await linesOf('agent authorise --help', 50)
    const examples = lines.slice(lines.indexOf('Examples:') + 1)
    assert.ok(examples.some((text) => text.startsWith('      ')))
    for (const text of examples) assert.match(text, /^(?: {2}bezel | {6}(?!bezel )\S)/)
  })
})

/** Counts the words with a digit: numbers, ids, addresses, hashes, times. */
function numbersIn(lines: readonly string[]): Map<string, number> {
  const words = lines.flatMap((line) => line.split(/\s+/)).filter((word) => /\d/.test(word))
  return new Map([...Map.groupBy(words.toSorted(), (word) => word)].map(([word, all]) => [word, all.length]))
}

function patternOf(template: string): RegExp {
  return new RegExp(`^${template.replace(/\{\w+\}/g, '[^/]+')}$`)
}
