import { execFile, execFileSync, spawn, type ChildProcess } from 'node:child_process'
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { text as readText } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { createChainClient, type ChainClient } from '@bezel/testkit/chainClient.ts'
import { lastingPort } from '@bezel/testkit/lastingPort.ts'
import { mountSmallDisk, type SmallDisk } from '@bezel/testkit/mountSmallDisk.ts'
import { shiftedClock } from '@bezel/testkit/shiftedClock.ts'
import { endChild, startDevnet, type RunningDevnet } from '@bezel/testkit/startDevnet.ts'
import { findPostgres, startPostgres, type RunningPostgres } from '@bezel/testkit/startPostgres.ts'
import { until } from '@bezel/testkit/until.ts'
import { readEnvironment, readUnit } from '../../scripts/deploy/unitFile.ts'
import { startFaultyProxy, type FaultyProxy } from '../outages/faultyProxy.ts'
import { commandsOf, type Heading } from './runbookPage.ts'

const ROOT = new URL('../../', import.meta.url).pathname.replace(/\/$/, '')
const UNIT = readUnit(join(ROOT, 'deploy/bezel-server@.service'))
export const CHAIN = 'arbitrum-sepolia'
export const NODES = ['a', 'b'] as const
export type NodeName = (typeof NODES)[number]

/** Depth from which a block is final here, so that a reorganisation of the local chain can go deeper. */
const FINAL_BLOCKS = 4
/** Blocks after those that deploy the contracts, so that `check` finds the contracts in the state of a minute ago. */
const OLDER_BLOCKS = 300
/** Size of the disk of the database, several times that of an empty one. */
const DISK_MB = 128
/** Timeout that ends commands that hang: some restart every node twice. */
const SHELL_MS = 1_200_000
/** The most that commands may print: a whole log, which has megabytes on a slow machine. */
const MAX_PRINTED_BYTES = 256 * 1024 * 1024
/** Error of the clock of node b while it is wrong. */
const STEP_MS = 60_000

/** Two nodes as the units of systemd run them, on one database, and a person on call with a shell. */
export interface RunbookWorld {
  readonly devnet: RunningDevnet
  readonly chain: ChainClient
  readonly server: RunningPostgres
  /** The first provider of the chains file. */
  readonly provider: FaultyProxy
  /** The disk of the database; `undefined` where the tests may not mount one. */
  readonly disk: SmallDisk | undefined
  urlOf(node: NodeName): string
  /** Sets the clock of node b wrong, or right again. */
  stepClock(): void
  /** Runs the commands below a heading of a page. Returns what they print; rejects when one fails. */
  run(page: string, heading: Heading): Promise<string>
  stop(): Promise<void>
}

/** Starts the world. */
export async function startRunbookWorld(): Promise<RunbookWorld> {
  const folder = mkdtempSync(join(tmpdir(), 'bezel-runbooks-'))
  const disk = mountSmallDisk(DISK_MB)
  const [server, devnet] = await Promise.all([startPostgres(), startDevnet({ DEVNET_BLOCK_MS: '500' })])
  await (disk === undefined ? server.createDatabase('bezel') : server.createDatabaseIn('bezel', disk.folder))
  const chain = createChainClient(devnet.file)
  await chain.control('hardhat_mine', OLDER_BLOCKS, 0)
  const provider = await startFaultyProxy(devnet.file.chains[CHAIN]!.rpcUrl.replace(/\/$/, ''))
  const ports = { a: await lastingPort(), b: await lastingPort() }
  writeSettings(folder, { server, devnet, provider, ports })
  const units = createUnits(folder)
  const control = await startControl(folder, units)
  writeCommands(folder, control)
  const shell = createShell(folder, { server, provider, ports, disk })
  const urlOf = (node: NodeName): string => `http://127.0.0.1:${ports[node]}`
  const stop = async (): Promise<void> => {
    await Promise.all(NODES.map((node) => units.stop(node)))
    control.close()
    await provider.close()
    await devnet.stop()
    await server.remove()
    disk?.unmount()
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    for (const node of NODES) {
      units.start(node)
      await until(`${node} is ready`, async () => (await fetch(`${urlOf(node)}/ready`).catch(() => undefined))?.ok)
    }
  } catch (error) {
    await stop()
    throw error
  }
  return {
    devnet,
    chain,
    server,
    provider,
    disk,
    urlOf,
    stepClock: () => units.stepClock(),
    run: async (page, heading) => shell(commandsOf(page, heading)),
    stop,
  }
}

interface Parts {
  readonly server: RunningPostgres
  readonly devnet: RunningDevnet
  readonly provider: FaultyProxy
  readonly ports: Readonly<Record<NodeName, number>>
}

/** Writes what an operator has below /etc/bezel and /opt. */
function writeSettings(folder: string, { server, devnet, provider, ports }: Parts): void {
  for (const name of ['etc/secrets', 'opt', 'data', 'backups', 'bin', 'downloads']) {
    mkdirSync(join(folder, name), { recursive: true })
  }
  for (const release of ['bezel-0.1.0', 'bezel']) symlinkSync(ROOT, join(folder, 'opt', release))
  const secret = (name: string, text: string): string => {
    const path = join(folder, 'etc/secrets', name)
    writeFileSync(path, `${text}\n`, { mode: 0o600 })
    return path
  }
  const relayer = devnet.file.accounts.find(({ name }) => name === 'relayer')!
  const settings = {
    BEZEL_CHAINS_FILE: join(folder, 'etc/chains.json'),
    BEZEL_DOMAIN_NAME: 'bezel.example',
    BEZEL_RELAYER_KEY_FILE: secret('relayer-key', relayer.privateKey),
    DATABASE_URL_FILE: secret('database-url', server.urlOf('bezel')),
    BEZEL_HEAD_POLL_MS: '500',
    BEZEL_MARKETS_REFRESH_MS: '1000',
    BEZEL_CONSOLE: 'off',
    BEZEL_OVERLOAD_PERCENT: '0',
    BEZEL_IP_LIMIT: '1000000',
    BEZEL_STOP_NOTICE_MS: '0',
    BEZEL_STOP_SPREAD_MS: '0',
  }
  writeFileSync(join(folder, 'etc/bezel.env'), linesOf(settings))
  writeFileSync(join(folder, 'etc/a.env'), linesOf({ PORT: String(ports.a) }))
  writeFileSync(join(folder, 'etc/b.env'), linesOf({ PORT: String(ports.b), ...shiftedClock({ stepMs: STEP_MS }) }))
  const { rpcUrl, wsUrl: _none, ...described } = devnet.file.chains[CHAIN]!
  const served = { ...described, rpcUrls: [provider.url, rpcUrl], finality: { blocks: FINAL_BLOCKS } }
  const file = { chains: { [CHAIN]: served }, feedUrl: devnet.file.feedUrl }
  writeFileSync(join(folder, 'etc/chains.json'), JSON.stringify(file))
  packRelease(folder)
}

function linesOf(settings: Readonly<Record<string, string>>): string {
  return Object.entries(settings)
    .map(([name, value]) => `${name}=${value}\n`)
    .join('')
}

/** Packs a newer release, which is this very tree, with its checksum. */
function packRelease(folder: string): void {
  const downloads = join(folder, 'downloads')
  const archive = 'bezel-0.2.0.tar.gz'
  symlinkSync(ROOT, join(downloads, 'bezel-0.2.0'))
  execFileSync('tar', ['-czf', archive, 'bezel-0.2.0'], { cwd: downloads })
  writeFileSync(join(downloads, 'SHA256SUMS'), execFileSync('sha256sum', [archive], { cwd: downloads }))
}

/** The units that the stand-in of systemd knows. */
interface Units {
  start(node: NodeName): void
  stop(node: NodeName): Promise<void>
  stepClock(): void
}

/** Runs nodes as the unit file says: its command, its settings, its signal. */
function createUnits(folder: string): Units {
  const running = new Map<NodeName, ChildProcess>()
  const inFolder = (text: string): string => text.replace('/var/lib/bezel', join(folder, 'data'))
  return {
    start(node) {
      const [own = ''] = UNIT.get('Environment') ?? []
      const files = ['bezel.env', `${node}.env`].map((name) => readFileSync(join(folder, 'etc', name), 'utf8'))
      const env = Object.fromEntries(readEnvironment([inFolder(own).replace('%i', node), ...files].join('\n')))
      const [, ...args] = UNIT.get('ExecStart')![0]!.split(' ')
      const child = spawn(process.execPath, args, {
        cwd: join(folder, 'opt/bezel'),
        env: { ...env, PATH: process.env.PATH },
      })
      for (const stream of [child.stdout, child.stderr]) {
        stream.on('data', (text) => appendFileSync(join(folder, `${node}.log`), String(text)))
      }
      running.set(node, child)
    },
    async stop(node) {
      const child = running.get(node)
      if (child !== undefined) await endChild(child, node, UNIT.get('KillSignal')![0] as NodeJS.Signals)
      running.delete(node)
    },
    stepClock: () => void running.get('b')!.kill('SIGURG'),
  }
}

/** Answers the commands that this machine has no systemd, no journal and no time server for. */
async function startControl(folder: string, units: Units): Promise<Server> {
  async function act(words: readonly string[]): Promise<string> {
    const [command, verb] = words
    if (command === 'chronyc') {
      units.stepClock()
      return '200 OK'
    }
    const node = NODES.find((name) => words.at(-1) === `bezel-server@${name}`)
    if (node === undefined)
      return command === 'journalctl' ? 'Vacuuming done' : Promise.reject(new Error('no such unit'))
    if (command === 'journalctl') return readFileSync(join(folder, `${node}.log`), 'utf8')
    if (verb === 'stop' || verb === 'restart') await units.stop(node)
    if (verb === 'start' || verb === 'restart') units.start(node)
    return ''
  }
  const server = createServer((request, answer) => {
    void readText(request)
      .then((asked) => act(asked.split(' ')))
      .then(
        (text) => answer.end(text),
        (error: Error) => answer.writeHead(500).end(error.message),
      )
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  return server
}

/** Writes the stand-ins for the commands of the system into a folder of the PATH. */
function writeCommands(folder: string, control: Server): void {
  const { port } = control.address() as AddressInfo
  for (const name of ['systemctl', 'journalctl', 'chronyc']) {
    const file = join(folder, 'bin', name)
    writeFileSync(file, `#!/bin/sh\nexec curl --fail --silent --data-binary "${name} $*" http://127.0.0.1:${port}/\n`)
    chmodSync(file, 0o755)
  }
}

/** Returns a function that runs commands behind those of the page on how to run them. */
function createShell(
  folder: string,
  { server, provider, ports, disk }: Omit<Parts, 'devnet'> & Pick<RunbookWorld, 'disk'>,
): (commands: string) => Promise<string> {
  const prelude = commandsOf('docs/runbooks/README.md', 'How to run the commands')
  const places: readonly (readonly [string, string])[] = [
    ['http://127.0.0.1:8081', `http://127.0.0.1:${ports.a}`],
    ['http://127.0.0.1:8082', `http://127.0.0.1:${ports.b}`],
    ['first.example', new URL(provider.url).host],
    ['/etc/bezel', join(folder, 'etc')],
    ['/opt', join(folder, 'opt')],
    ['/var/backups', join(folder, 'backups')],
    ['/var/lib/postgresql', disk?.folder ?? folder],
    ['/var/lib/bezel', join(folder, 'data')],
    ['CHAIN=base', `CHAIN=${CHAIN}`],
  ]
  const env = {
    PATH: [join(folder, 'bin'), dirname(process.execPath), findPostgres(), process.env.PATH].join(':'),
    PGHOST: '127.0.0.1',
    PGPORT: String(server.port),
    PGUSER: new URL(server.urlOf('bezel')).username,
    LOG_LEVEL: 'warn',
  }
  return async (commands) => {
    const script = places.reduce((text, [from, to]) => text.replaceAll(from, to), `${prelude}\n${commands}`)
    const options = { cwd: join(folder, 'downloads'), env, timeout: SHELL_MS, maxBuffer: MAX_PRINTED_BYTES }
    const { stdout } = await promisify(execFile)('bash', ['--norc', '-c', `set -euo pipefail\n${script}`], options)
    return stdout
  }
}
