import { parseArgs } from 'node:util'
import {
  CHAIN_SLUGS,
  parseAddress,
  parseChainSlug,
  parseDecimal,
  StartupError,
  Wei,
  type Address,
  type AuditKind,
  type ChainSlug,
} from '@bezel/protocol'
import { runCheck } from './check/runCheck.ts'
import { formatReport } from './check/printReport.ts'
import { StoreUnavailableError } from './ground/unavailable.ts'
import { CLEAR_LINE, copyData, markDataRestored, migrateData, nameOf, type OperatorHost } from './operatorData.ts'
import { programVersion } from './programVersion.ts'
import { refuseUnsafeStart } from './refuseUnsafeStart.ts'
import { readDataPlace } from './settings/dataPlace.ts'
import { findAgent } from './store/agentStore.ts'
import { writeAudit } from './store/auditStore.ts'
import {
  deleteControl,
  loadControls,
  saveControl,
  type SetControl,
  type ControlKey,
  type ControlName,
} from './store/controlStore.ts'
import { listChains } from './store/chainStore.ts'
import { openExistingConfiguredStore } from './store/openConfiguredStore.ts'
import { insertReindex, listReindexes } from './store/reindexStore.ts'
import { addUnproven, listUnproven, readSnapshot } from './store/snapshotStore.ts'
import type { Scope } from './store/scope.ts'
import type { Sql, Store } from './store/sql.ts'

/** Prints a line of the answer. */
type Print = (line: string) => void

/** Attempts to write while the service holds the store. Each waits for up to two seconds. */
const MAX_ATTEMPTS = 15

/** Longest reason of a pause, because every refused caller reads it. */
const MAX_REASON_CHARS = 200

const HELP = `bezel-server starts the service, checks a set-up before, and sets the operator's controls of a running service,
which follows them within a second.

  bezel-server start                                     runs the service, as npm run serve does; start --help lists its
                                                         settings
  bezel-server check [--json] [--price-per-million-units PRICE]
                                                         checks settings, data, providers, contracts and price feed,
                                                         and says what to mend; changes nothing, sends nothing
  bezel-server status                                    lists the controls that are set (--json for programs)
  bezel-server pause writes CHAIN [--reason TEXT]        refuses every write on the chain: orders, changes, closes
  bezel-server pause relayer CHAIN [--reason TEXT]       lets the facade's relayer take no new action on the chain
  bezel-server pause trader CHAIN ADDRESS [--reason TEXT]
  bezel-server pause agent CHAIN ADDRESS [--reason TEXT]  refuses the writes of one trader or of one agent
  bezel-server resume writes|relayer CHAIN
  bezel-server resume trader|agent CHAIN ADDRESS         ends a pause
  bezel-server budget CHAIN [--trader-day AMOUNT] [--day AMOUNT]
                                                         sets the gas that one trader's relayed actions, and all of them
                                                         together, may cost on a UTC day, in the chain's native token;
                                                         "default" goes back to the configured one
  bezel-server reread TRADER [CHAIN]                     compares everything of a trader with the chain and mends what
                                                         was missed; the trader's requests wait until it is proven
  bezel-server reindex FROM TO [CHAIN]                   reads the logs of these blocks again and mends what was missed
  bezel-server migrate                                   brings the tables in DATABASE_URL up to date, for services whose
                                                         own user may not change them (deploy/grants.sql)
  bezel-server copy                                      copies the SQLite store of BEZEL_DATA, whose service is stopped,
                                                         to the empty database of DATABASE_URL, and compares both; run
                                                         again after an interruption, it goes on where it ended
  bezel-server restored                                  run it once after a back-up was put back, before the service is
                                                         started on it: nothing signed before is accepted again, and the
                                                         relayer sends nothing again
  bezel-server --version                                 tells version, commit and newest step of the schema

CHAIN is ${CHAIN_SLUGS.join(', ')} or all. Callers who are refused read the reason. Nothing that is on the chain or on
its way there is stopped, and revocations always work. Every change is kept in the audit log.

Run it in the folder of the clone, as npx --no bezel-server. Settings (environment): BEZEL_DATA, the data folder of the
service (default: var), or DATABASE_URL where its data is in PostgreSQL; every command names the one it uses. check reads
all settings of the service, as npm run serve does.
`

/** The commands on all of the data. */
const DATA_COMMANDS: Readonly<Record<string, (host: OperatorHost) => Promise<number>>> = {
  copy: copyData,
  migrate: migrateData,
  restored: markDataRestored,
}

/** Runs the operator's command and returns its exit code. A failure is printed as a sentence. */
export async function runOperator(host: OperatorHost): Promise<number> {
  const { argv, stdout, stderr } = host
  if (argv.length === 0 || argv.includes('--help')) {
    stdout.write(HELP)
    return argv.length === 0 ? 1 : 0
  }
  if (argv[0] === '--version') {
    stdout.write(`${programVersion()}\n`)
    return 0
  }
  try {
    if (argv[0] === 'check') return await checkSetUp(host)
    const dataCommand = DATA_COMMANDS[argv[0]!]
    if (dataCommand !== undefined) {
      refuseRest(argv.slice(1))
      return await dataCommand(host)
    }
    const command = parseCommand(argv)
    const place = readDataPlace(host.env)
    const store = await openExistingConfiguredStore(place)
    stderr.write(`In ${nameOf(place)}:\n`)
    try {
      await command(store, host.now(), (line) => stdout.write(`${line}\n`))
    } finally {
      await store.close()
    }
    return 0
  } catch (error) {
    if (!(error instanceof StartupError)) throw error
    stderr.write(`${error.message}\n`)
    return 1
  }
}

/** Checks the set-up that the settings describe. Returns 1 when something must be mended. */
async function checkSetUp({ argv, env, stdout, stderr, now }: OperatorHost): Promise<number> {
  const { positionals, values } = parsedArguments(argv)
  refuseRest(positionals.slice(1))
  const pricePerMillionUnits = readUnitPrice(values['price-per-million-units'])
  const isTold = stderr.isTTY === true
  const { columns: width = DEFAULT_COLUMNS } = stderr
  const report = await runCheck({
    env,
    now,
    pricePerMillionUnits,
    refuseUnsafe: refuseUnsafeStart,
    progress: (what) => isTold && stderr.write(CLEAR_LINE + `Checking ${what} …`.slice(0, width - 1)),
  })
  if (isTold) stderr.write(CLEAR_LINE)
  const hasColours = stdout.isTTY === true && (env['NO_COLOR'] ?? '') === '' && env['TERM'] !== 'dumb'
  const lines =
    values.json === true ? [JSON.stringify(report)] : formatReport(report, { width: stdout.columns, hasColours })
  stdout.write(`${lines.join('\n')}\n`)
  return report.ok ? 0 : 1
}

/** Width of a terminal that does not tell its own. */
const DEFAULT_COLUMNS = 80

function readUnitPrice(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const decimal = parseDecimal(text)
  if (decimal !== undefined && Number(decimal) >= 0) return Number(decimal)
  throw new StartupError(`${JSON.stringify(text)} is no price of a million compute units: write 0.45, say.`)
}

type OperatorCommand = (store: Store, nowMs: number, print: Print) => Promise<void>

/** Returns the command that the arguments ask for. Throws a `StartupError` that says what to correct. */
function parseCommand(argv: readonly string[]): OperatorCommand {
  const { positionals, values } = parsedArguments(argv)
  const [verb, ...operands] = positionals
  switch (verb) {
    case 'status':
      refuseRest(operands)
      return (store, _nowMs, print) => tellStatus(store, print, values.json === true)
    case 'pause': {
      const reason = readReason(values.reason)
      return changeAll(readTargets(operands), 'paused', (key) => ({ ...key, value: reason }))
    }
    case 'resume':
      return changeAll(readTargets(operands), 'resumed', () => undefined)
    case 'budget':
      return budgetCommand(operands, values)
    case 'reread':
      return rereadCommand(operands)
    case 'reindex':
      return reindexCommand(operands)
    default:
      throw new StartupError(`Unknown command ${JSON.stringify(verb ?? '')}: bezel-server --help lists all.`)
  }
}

type Options = ReturnType<typeof parsedArguments>['values']

function parsedArguments(argv: readonly string[]) {
  try {
    return parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: {
        reason: { type: 'string' },
        'trader-day': { type: 'string' },
        day: { type: 'string' },
        json: { type: 'boolean' },
        'price-per-million-units': { type: 'string' },
      },
    })
  } catch (error) {
    throw new StartupError(`${(error as Error).message} bezel-server --help lists all.`)
  }
}

function budgetCommand([chain, ...rest]: readonly string[], values: Options): OperatorCommand {
  refuseRest(rest)
  const slugs = readChains(chain)
  const amounts: Readonly<Partial<Record<ControlName, string>>> = {
    ...(values['trader-day'] !== undefined && { trader_day_wei: values['trader-day'] }),
    ...(values.day !== undefined && { deployment_day_wei: values.day }),
  }
  const names = Object.keys(amounts) as ControlName[]
  if (names.length === 0) throw new StartupError('Name a budget: --trader-day AMOUNT, --day AMOUNT or both.')
  const wei = new Map(names.map((name) => [name, readBudget(amounts[name]!)]))
  const keys = slugs.flatMap((slug) => names.map((control) => ({ chain: slug, control, subject: null })))
  return changeAll(keys, 'budget_set', (key) => {
    const value = wei.get(key.control)
    return value === undefined ? undefined : { ...key, value }
  })
}

/** Marks a trader as unproven; the service then reads the trader again. */
function rereadCommand([address, chain, ...rest]: readonly string[]): OperatorCommand {
  refuseRest(rest)
  const trader = parseAddress(address ?? '')
  if (trader === undefined) throw new StartupError('Name the address of the trader.')
  const slugs = chain === undefined ? undefined : readChains(chain)
  return async (store, _nowMs, print) => {
    const kept = slugs ?? (await listChains(store.read))
    for (const slug of kept) {
      const mark = (sql: Sql) => addUnproven(sql, slug, { trader, reason: 'the operator asked for it' })
      await inTransaction(store, { chain: slug, trader }, mark)
    }
    for (const slug of kept) print(`${slug} trader ${trader}: is read again within seconds.`)
  }
}

function reindexCommand([first, last, chain, ...rest]: readonly string[]): OperatorCommand {
  refuseRest(rest)
  const [fromBlock, toBlock] = [Number(first), Number(last)]
  if (!(Number.isSafeInteger(fromBlock) && Number.isSafeInteger(toBlock) && 0 <= fromBlock && fromBlock <= toBlock)) {
    throw new StartupError('Name the first and the last block, as whole numbers.')
  }
  const slugs = chain === undefined ? undefined : readChains(chain)
  return async (store, _nowMs, print) => {
    const [slug, ...others] = slugs ?? (await listChains(store.read))
    if (slug === undefined || others.length > 0) throw new StartupError('Name the chain after the blocks.')
    const since = (await readSnapshot(store.read, slug))?.block.number
    if (since !== undefined && fromBlock <= since) {
      throw new StartupError(`The history of ${slug} is known since block ${since}: begin at ${since + 1}.`)
    }
    await inTransaction(store, { chain: slug }, (sql) => insertReindex(sql, { chain: slug, fromBlock, toBlock }))
    print(`${slug} blocks ${fromBlock} to ${toBlock}: are read again; bezel-server status tells the result.`)
  }
}

/** Reads `writes|relayer CHAIN` or `trader|agent CHAIN ADDRESS`. */
function readTargets([what, chain, address, ...rest]: readonly string[]): ControlKey[] {
  if (what === 'writes' || what === 'relayer') {
    refuseRest([address, ...rest].filter((word) => word !== undefined))
    return readChains(chain).map((slug) => ({ chain: slug, control: what, subject: null }))
  }
  if (what !== 'trader' && what !== 'agent')
    throw new StartupError('Name what is meant: writes, relayer, trader or agent.')
  refuseRest(rest)
  const subject = parseAddress(address ?? '')
  if (subject === undefined) throw new StartupError(`Name the address of the ${what} after the chain.`)
  return readChains(chain).map((slug) => ({ chain: slug, control: what, subject }))
}

function readChains(text: string | undefined): readonly ChainSlug[] {
  if (text === 'all') return CHAIN_SLUGS
  const slug = text === undefined ? undefined : parseChainSlug(text)
  if (slug === undefined) throw new StartupError(`Name a chain: ${CHAIN_SLUGS.join(', ')} or all.`)
  return [slug]
}

function readReason(text = ''): string {
  if (/^[^\p{Cc}]*$/u.test(text) && text.length <= MAX_REASON_CHARS) return text
  throw new StartupError(`The reason may have at most ${MAX_REASON_CHARS} characters, in one line.`)
}

/** Returns the amount in wei, or `undefined` for the configured budget. */
function readBudget(text: string): string | undefined {
  if (text === 'default') return undefined
  const decimal = parseDecimal(text)
  const wei = decimal === undefined ? undefined : Wei.parse(decimal)
  if (wei !== undefined && wei >= 0n) return String(wei)
  throw new StartupError(`${JSON.stringify(text)} is no amount of native token: write 0.05, say, or default.`)
}

function refuseRest([word]: readonly string[]): void {
  if (word !== undefined) throw new StartupError(`Unknown argument ${JSON.stringify(word)}: see bezel-server --help.`)
}

/** Sets each control to what `next` returns, or lifts it, with its entry in the audit log in the same transaction. */
function changeAll(
  keys: readonly ControlKey[],
  kind: AuditKind,
  next: (key: ControlKey) => Omit<SetControl, 'setAtMs'> | undefined,
): OperatorCommand {
  return async (store, nowMs, print) => {
    const lines = await inTransaction(store, { name: 'controls' }, async (sql) => {
      const told: string[] = []
      for (const key of keys) {
        const control = next(key)
        const isChanged = control === undefined ? await deleteControl(sql, key) : true
        if (control !== undefined) await saveControl(sql, { ...control, setAtMs: nowMs })
        if (isChanged) await tellAudit(sql, key, { kind, value: control?.value, atMs: nowMs })
        told.push(isChanged ? lineOf(key, control?.value) : `${subjectOf(key)}: nothing was set.`)
      }
      return told
    })
    for (const line of lines) print(line)
  }
}

async function tellAudit(
  sql: Sql,
  { chain, control, subject }: ControlKey,
  of: { readonly kind: AuditKind; readonly value: string | undefined; readonly atMs: number },
): Promise<void> {
  const agent = control === 'agent' && subject !== null ? subject : undefined
  const trader = agent === undefined ? subject : await traderOf(sql, chain, agent)
  const { kind, value = null, atMs } = of
  await writeAudit(sql, { chain, atMs, kind, trader, ...(agent && { agent }), detail: { control, value } })
}

async function traderOf(sql: Sql, chain: ChainSlug, agent: Address): Promise<Address | null> {
  return (await findAgent(sql, chain, agent))?.trader ?? null
}

/** Repeats the transaction while the service holds the store, such as while it catches up with many blocks. */
async function inTransaction<Result>(store: Store, scope: Scope, work: (sql: Sql) => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await store.transaction(scope, work)
    } catch (error) {
      if (!(error instanceof StoreUnavailableError)) throw error
      if (attempt < MAX_ATTEMPTS) continue
      throw new StartupError(`The store can't be written now (${error.message}): nothing was changed. Try again.`)
    }
  }
}

async function tellStatus(store: Store, print: Print, isJson: boolean): Promise<void> {
  const controls = await loadControls(store.read)
  if (isJson) return print(JSON.stringify(controls))
  if (controls.length === 0) print('Nothing is paused, and all budgets are the configured ones.')
  for (const control of controls) {
    print(`${lineOf(control, control.value)} Since ${new Date(control.setAtMs).toISOString()}.`)
  }
  for (const chain of await listChains(store.read)) {
    for (const { trader, reason } of await listUnproven(store.read, chain)) {
      print(`${chain} trader ${trader}: not everything on the chain is known (${reason}).`)
    }
  }
  for (const { chain, fromBlock, toBlock, nextBlock, changed } of await listReindexes(store.read)) {
    const state = nextBlock > toBlock ? 'read again' : `read again up to ${nextBlock - 1}`
    print(`${chain} blocks ${fromBlock} to ${toBlock}: ${state}; something was missed in ${changed} of them.`)
  }
}

const BUDGET_NAMES: Readonly<Partial<Record<ControlName, string>>> = {
  trader_day_wei: 'gas of one trader a day',
  deployment_day_wei: 'gas of all traders a day',
}

/** Returns what holds of a control, in one sentence. */
function lineOf(key: ControlKey, value: string | undefined): string {
  if (BUDGET_NAMES[key.control] !== undefined) {
    return `${subjectOf(key)}: ${value === undefined ? 'as configured' : `${Wei.format(Wei.of(BigInt(value)))} of the native token`}.`
  }
  if (value === undefined) return `${subjectOf(key)}: resumed.`
  return value === '' ? `${subjectOf(key)}: paused.` : `${subjectOf(key)}: paused (${value}).`
}

function subjectOf({ chain, control, subject }: ControlKey): string {
  return `${chain} ${BUDGET_NAMES[control] ?? control}${subject === null ? '' : ` ${subject}`}`
}
