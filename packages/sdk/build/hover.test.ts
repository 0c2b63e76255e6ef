import assert from 'node:assert/strict'
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { emitTypes } from './emitTypes.ts'
import { startLanguageServer, type FileSymbol, type LanguageServer } from './languageServer.ts'

/** Kinds of the language server protocol: members of a class or interface. */
const MEMBERS: ReadonlySet<number> = new Set([6, 7, 8])

const LEAST_COVERAGE = 0.95

/** Longest message of the mistakes below, in characters: about four lines of a wide terminal. */
const LONGEST_ERROR = 450

/** Greatest number of steps that such a message takes to the field, one in each of its lines. */
const MOST_LINES = 6

/** Mistakes that must not compile, each with a word that its message has to name. */
const MISTAKES: readonly (readonly [code: string, named: RegExp])[] = [
  [`client.orders.create({ market: 'BTC/USD', side: 'long', type: 'limit', size: '1', leverage: '10' })`, /price/],
  [`client.orders.create({ market: 'BTC/USD', side: 'long', type: 'stop', size: '1', leverage: '10' })`, /price/],
  [`client.orders.create({ market: 'BTC/USD', side: 'up', type: 'market', size: '1', leverage: '10' })`, /Side/],
  [`client.orders.create({ market: 'BTC/USD', side: 'long', type: 'market', size: 1, leverage: '10' })`, /string/],
  [`client.orders.create({ market: 'BTC/USD', side: 'long', type: 'market', leverage: '10' })`, /size/],
  [`client.orders.create({ market: 'BTC/USD', side: 'long', kind: 'market', size: '1', leverage: '10' })`, /kind|type/],
  [`client.positions.update('1', { sl: 58000 })`, /string/],
  [`client.orders.submit('1', 'ab')`, /0x/],
  [`client.markets.candles('BTC/USD', { interval: '2m' })`, /1m/],
  [`client.stream().prise()`, /prise|prices/],
  [`client.stream().prices({ fromSeq: 3 })`, /undefined/],
  [`client.stream().book('BTC/USD', { fromSeq: 3 })`, /undefined/],
  [`client.stream().candles('BTC/USD', '2m')`, /2m/],
  [`client.stream().orders({ fromSeq: '3' })`, /string/],
  [`client.stream().orders({ after: 3 })`, /after/],
  [`(lost: SubscribeOptions) => client.stream().trades('BTC/USD', { ...lost, fromSeq: 3 })`, /undefined/],
  [`(): StreamSubscription<OrdersChange> => client.stream().orders()`, /OrdersChange/],
  [`async () => (await client.stream().orders().next()).value?.data.id`, /'id'/],
  [`async () => (await client.stream().prices().next()).value?.block`, /block/],
  [`client.notifications.dismiss('7')`, /number/],
  [`client.account.approve({ collateral: 'USDC', amount: '5' })`, /sender/],
  [`(error: BezelApiError) => error.code === 'RATE_LIMTED'`, /RATE_LIMTED/],
  [`(error: BezelError) => error.code === 'FILL_TIMEDOUT'`, /FILL_TIMEDOUT/],
  [`(error: AnyBezelError) => error.code === 'FILL_TIMEOUT' && error.txHash`, /FillTimeoutError/],
  [`(error: BezelApiError) => error.code === 'PRECISION_ERROR' && error.details.maxDecimal`, /maxDecimals/],
  [`(order: Order) => order.fill.price`, /null/],
  [`(order: Order) => order.status === 'done'`, /done/],
]

/** Code that must compile: what the types know about answers and errors. */
const RIGHT = `
const order: Promise<Order> = client.orders.get('1')
export const fee = async (): Promise<string | undefined> => (await order).fill?.feeCollateral
export const sent = async (wallet: WalletClient): Promise<unknown> => {
  const { transaction } = await client.orders.prepare({ market: 'BTC/USD', side: 'long', type: 'limit', price: '1', size: '1', leverage: '2' })
  return transaction && wallet.sendTransaction({ to: transaction.to, data: transaction.data, chain: null, account: transaction.to })
}
export function places(error: unknown): number | string | undefined {
  if (!(error instanceof BezelApiError)) return undefined
  if (error.code === 'PRECISION_ERROR') return error.details.maxDecimals
  if (error.code === 'RATE_LIMITED') return error.details.scope
  return error.code === 'AGENT_NOT_DELEGATED' ? error.details.delegationTx.data : error.details.requestId
}
export function told(error: unknown): unknown {
  if (!isBezelError(error)) return undefined
  switch (error.code) {
    case 'FILL_TIMEOUT':
      return error.order?.status
    case 'PRECISION_ERROR':
      return error.details.maxDecimals
    case 'TIMESTAMP_OUT_OF_WINDOW':
      return error.skewMs
    case 'BATCH_INTERRUPTED':
      return error.sent.txHashes
    case 'BATCH_NOT_DONE':
      return error.missed[0]?.reason
    case 'BROADCAST_FAILED':
      return error.reason === 'reverted' ? error.errorName : error.orderId
    default:
      return error.retryable
  }
}
export const codes = (code: BezelErrorCode): AnyBezelError['code'] => code
export async function resumed(fromSeq: number, maybe: number | undefined, signal: AbortSignal): Promise<unknown> {
  const stream = client.stream()
  for await (const { data } of stream.orders({ fromSeq, signal })) return data.status
  for await (const { data } of stream.fills({ fromSeq })) return data.fill
  for await (const { snapshot, data } of stream.positions({ fromSeq })) return [snapshot satisfies false, data.length]
  for await (const { snapshot, data } of stream.account({ fromSeq })) return [snapshot satisfies false, data.balances]
  for await (const event of stream.orders({ fromSeq: maybe })) return event.snapshot ? event.data.length : event.data.id
  for await (const event of stream.orders()) return event.snapshot ? event.data.length : event.data.id
  return undefined
}
export async function waited(id: string): Promise<unknown> {
  const { sl }: Position = await (await client.positions.update(id, { sl: '1' })).wait()
  const reclaimed: Position | undefined = await (await client.positions.cancelUpdate(id)).wait()
  const orders: Order[] = [await (await client.positions.close(id)).wait(), await (await client.orders.cancel(id)).wait()]
  return [sl, reclaimed, orders, await (await client.flatten()).wait()]
}
export async function lacking(): Promise<string[]> {
  const { missing } = await client.preview.close('1')
  return missing.flatMap((lack) => (lack.kind === 'allowance' ? [lack.collateral, lack.needed, lack.transaction.data] : []))
}
export const lastAction = async (): Promise<FillAction | undefined> => (await client.account.fills()).data[0]?.action
`

describe('the types of the package in an editor', () => {
  let folder: string
  let types: string
  let server: LanguageServer

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'bezel-sdk-hover-'))
    const sdk = join(folder, 'node_modules', '@bezel', 'sdk')
    types = join(sdk, 'types')
    mkdirSync(sdk, { recursive: true })
    await emitTypes(types)
    const manifest = { name: '@bezel/sdk', version: '1.0.0', type: 'module', types: './types/index.d.ts' }
    writeFileSync(join(sdk, 'package.json'), JSON.stringify(manifest))
    const viem = dirname(createRequire(import.meta.url).resolve('viem/package.json'))
    symlinkSync(viem, join(folder, 'node_modules', 'viem'))
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'someone', type: 'module' }))
    const compilerOptions = { strict: true, module: 'nodenext', target: 'es2023', types: [], noEmit: true }
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }))
    server = await startLanguageServer(folder)
  })
  after(() => {
    server?.close()
    rmSync(folder, { recursive: true, force: true })
  })

  /** Returns the errors of a program that has a client. */
  async function errorsOf(name: string, code: string): Promise<readonly string[]> {
    const named = [
      'AnyBezelError',
      'BezelClient',
      'BezelError',
      'BezelErrorCode',
      'FillAction',
      'Order',
      'OrdersChange',
      'Position',
      'StreamSubscription',
      'SubscribeOptions',
    ]
    const head = [
      `import { BezelApiError, isBezelError, type ${named.join(', type ')} } from '@bezel/sdk'`,
      "import type { WalletClient } from 'viem'",
      'declare const client: BezelClient',
      'void [BezelApiError, isBezelError]',
      `export type Used = [WalletClient, ${named.map((type) => (type === 'StreamSubscription' ? `${type}<Order>` : type)).join(', ')}]\n`,
    ].join('\n')
    const file = join(folder, name)
    writeFileSync(file, head + code)
    server.open(file)
    return server.errors(file)
  }

  it(`explain at least ${LEAST_COVERAGE * 100} % of what users can name, and of its fields`, async () => {
    const exported = exportedNames(types)
    const bare: string[] = []
    let count = 0
    const files = globSync('**/*.d.ts', { cwd: types }).map((name) => join(types, name))
    // All at once, because each file that is opened later makes the server look at the whole project again.
    for (const file of files) server.open(file)
    for (const file of files) {
      const shown = reachable(await server.symbols(file), readFileSync(file, 'utf8'), exported)
      for (const [name, { selectionRange }] of shown.flatMap((symbol) => partsOf(symbol))) {
        count += 1
        const text = await server.hover(file, selectionRange.start)
        if (text.replace(/```[\s\S]*?```/, '').trim() === '') bare.push(name)
      }
    }
    assert.ok(count > 1_000, `only ${count} names`)
    assert.ok(bare.length <= count * (1 - LEAST_COVERAGE), `${bare.length} of ${count} say nothing: ${bare.join(', ')}`)
  })

  it('let right programs compile: hex texts for viem, unions by type, details by code', async () => {
    assert.deepEqual(await errorsOf('right.ts', RIGHT), [])
  })

  it('refuse mistakes in a few words that name the field', async () => {
    for (const [at, [code, named]] of MISTAKES.entries()) {
      const errors = await errorsOf(`mistake${at}.ts`, `export const wrong = ${code}\n`)
      assert.ok(errors.length > 0, `it compiles: ${code}`)
      for (const error of errors) {
        assert.match(error, named, code)
        assert.ok(error.length <= LONGEST_ERROR, `${error.length} characters for ${code}: ${error}`)
        assert.ok(error.split('\n').length <= MOST_LINES, `${code}: ${error}`)
      }
    }
  })
})

/** Returns a symbol and its members at any depth, each with its path. */
function partsOf(symbol: FileSymbol, path = ''): [string, FileSymbol][] {
  const name = path === '' ? symbol.name : `${path}.${symbol.name}`
  const members = (symbol.children ?? []).filter(({ kind, name: own }) => MEMBERS.has(kind) && !own.startsWith('['))
  return [[name, symbol], ...members.flatMap((member) => partsOf(member, name))]
}

/**
 * Returns the symbols of a file that users meet: those that are exported from the package, and those of the same file
 * that these are declared by, whose fields an editor shows too.
 */
function reachable(symbols: readonly FileSymbol[], text: string, exported: ReadonlySet<string>): FileSymbol[] {
  const lines = text.split('\n')
  const wordsOf = ({ range: { start, end } }: FileSymbol): string[] =>
    lines
      .slice(start.line, end.line + 1)
      .join('\n')
      .match(/\w+/g) ?? []
  const found = new Set(symbols.filter(({ name }) => exported.has(name)))
  for (const symbol of found) {
    const words = new Set(wordsOf(symbol))
    for (const other of symbols) if (words.has(other.name)) found.add(other)
  }
  return [...found]
}

const DECLARED = /^export (?:declare )?(?:interface|class|abstract class|type|const|function) (\w+)/gm

/** Returns the names that the entry of a package exports, and those that they are declared by. */
function exportedNames(types: string): ReadonlySet<string> {
  const names = new Set<string>()
  const read = (file: string): void => {
    const text = readFileSync(join(types, file), 'utf8')
    for (const [, list] of text.matchAll(/^export (?:type )?\{([^}]*)\}/gm)) {
      for (const name of list!.matchAll(/\w+/g)) names.add(name[0])
    }
    for (const [, name] of text.matchAll(DECLARED)) {
      if (file !== 'index.d.ts') names.add(name!)
    }
    for (const [, from] of text.matchAll(/^export (?:type )?\* from '\.\/([^']+)\.js'/gm)) read(`${from}.d.ts`)
  }
  read('index.d.ts')
  return names
}
