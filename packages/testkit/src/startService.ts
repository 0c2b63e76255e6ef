import { fork } from 'node:child_process'
import { join } from 'node:path'
import { startFront } from './cluster/startFront.ts'
import { clusterNodes, isCluster } from './cluster/testCluster.ts'
import { isBehindProviders, startTestProviders } from './live/testProviders.ts'
import { scanOutput, secretsOfChain, secretsOfSettings } from './scanOutput.ts'
import { endChild, untilStarted, type RunningDevnet } from './startDevnet.ts'
import { until } from './until.ts'

const MAIN = new URL('../../server/src/main.ts', import.meta.url)

/** Settings without which a slow machine, or many sockets and agents of one test, would be taken for an attack. */
const UNHURRIED = {
  BEZEL_OVERLOAD_PERCENT: '0',
  BEZEL_CONNECTIONS_PER_IP: '100000',
  BEZEL_REGISTRATION_LIMIT: '1000000',
  // Nobody is sent elsewhere by the front of a test.
  BEZEL_STOP_NOTICE_MS: '0',
  BEZEL_STOP_SPREAD_MS: '0',
}

export interface RunningService {
  readonly url: string
  readonly pid: number
  /** Stops the process. Throws when it has written a secret. */
  stop(): Promise<void>
  /** Kills the process, as a crash does. */
  kill(): Promise<void>
}

/** Starts the service as `launchService` does. Resolves when it is ready. */
export async function startService(
  devnet: RunningDevnet,
  settings: Record<string, string> = {},
): Promise<RunningService> {
  const service = await launchService(devnet, settings)
  try {
    await until('the service is ready', async (saw) => {
      const answer = await fetch(`${service.url}/ready`)
      saw(await answer.text())
      return answer.ok
    })
    return service
  } catch (error) {
    await service.kill()
    throw error
  }
}

/**
 * Starts the real service in its own process, on a free port, over a devnet and its data folder. Resolves when it
 * listens, which is before it is ready. Behind providers in `npm run test:live` (live/testProviders.ts), and as two
 * nodes behind a front in `npm run test:cluster` (cluster/testCluster.ts).
 */
export async function launchService(
  devnet: RunningDevnet,
  settings: Record<string, string> = {},
): Promise<RunningService> {
  if (!isCluster() || settings['DATABASE_URL'] !== undefined) return launchNode(devnet, settings)
  const data = settings['BEZEL_DATA'] ?? devnet.folder
  const chains = { BEZEL_CHAINS_FILE: settings['BEZEL_CHAINS_FILE'] ?? join(data, 'devnet.json') }
  const planned = await clusterNodes(data)
  const nodes = await Promise.all(
    planned.map(({ settings: own }) => launchNode(devnet, { ...chains, ...settings, ...own })),
  )
  const front = await startFront(nodes.map(({ url }, at) => ({ url, isRelayer: planned[at]!.isRelayer })))
  const end = async (how: 'stop' | 'kill'): Promise<void> => {
    await Promise.all(nodes.map((node) => node[how]()))
    await front.close()
  }
  return { url: front.url, pid: nodes[0]!.pid, stop: () => end('stop'), kill: () => end('kill') }
}

async function launchNode(devnet: RunningDevnet, settings: Record<string, string>): Promise<RunningService> {
  const data = settings['BEZEL_DATA'] ?? devnet.folder
  const named = settings['BEZEL_CHAINS_FILE'] ?? join(data, 'devnet.json')
  const providers = isBehindProviders() ? await startTestProviders(named) : undefined
  const env = {
    ...process.env,
    PORT: '0',
    BEZEL_DATA: devnet.folder,
    BEZEL_RELAYER_KEY: relayerKeyOf(devnet),
    ...UNHURRIED,
    ...settings,
    LOG_LEVEL: writtenLevel(settings['LOG_LEVEL']),
    ...(providers === undefined ? {} : { BEZEL_CHAINS_FILE: providers.chainsFile }),
  }
  const child = fork(MAIN, { env, stdio: ['ignore', 'pipe', 'pipe', 'ipc'] })
  const secrets = [...secretsOfSettings(env), ...secretsOfChain(devnet.file)]
  const show = showFrom(settings['LOG_LEVEL'])
  let last = ''
  const onLine = (line: string): void => show((last = line))
  const output = scanOutput(child, { name: 'the service', secrets, onLine })
  const { url } = await untilStarted(child, 'the service').catch(async (error: Error) => {
    if (child.exitCode !== null) await output.end()
    throw new Error(`${error.message}, and said last: ${last}`, { cause: error })
  })
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    await endChild(child, 'the service', signal)
    await providers?.close()
    await output.end()
  }
  return { url, pid: child.pid!, stop: () => end('SIGTERM'), kill: () => end('SIGKILL') }
}

/**
 * Returns the level at which a service logs: unless a test needs another one, that of production, so that every answer
 * is a line in which secrets are looked for. What a test asks to be silent is only not shown.
 */
function writtenLevel(level: string | undefined): string {
  return level === undefined || level === 'silent' ? 'info' : level
}

/** Levels whose lines are only read, unless a test asks for them. */
const QUIET_LINE = /^\{"level":[123]0,/

/** Returns the function that shows lines: warnings, errors and what is no line of the log, or what a test asks for. */
function showFrom(level: string | undefined): (line: string) => void {
  return (line) => {
    if (level === 'silent' || (level === undefined && QUIET_LINE.test(line))) return
    process.stderr.write(`${line}\n`)
  }
}

/** Returns the relayer's key, as `npm start` passes it to the service. */
function relayerKeyOf({ file }: RunningDevnet): string {
  return file.accounts.find(({ name }) => name === 'relayer')!.privateKey
}
