import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { httpUrl, StartupError, type RunningProgram } from '@bezel/protocol'
import { readDevnetConfig } from '../packages/devnet/src/config.ts'
import { readServerConfig } from '../packages/server/src/settings/config.ts'
import { startChild, type ChildProgram } from './childProgram.ts'
import { freePort } from './freePort.ts'
import { waitUntilReady } from './waitUntilReady.ts'

/**
 * Time after which the end of a child counts as a failure: a signal to the whole process group may end a child before
 * it reaches us.
 */
const SIGNAL_GRACE_MS = 200

const DEVNET_FILE_NAME = 'devnet.json'

/** The two programs, as files that node runs, and what has to be done before the second. */
export interface Mains {
  readonly chain: URL
  readonly service: URL
  /** Builds the console while the local chain starts. Left out: the service has the one that is there. */
  readonly buildConsole?: (progress: (line: string) => void) => Promise<void>
}

/** The chains and accounts of the local chain, as devnet.json has them. */
export interface Sandbox {
  readonly chains: Readonly<Record<string, { readonly chainId: number; readonly rpcUrl: string }>>
  /** Accounts with keys that everybody knows. */
  readonly accounts: readonly { readonly name: string; readonly address: string; readonly privateKey: string }[]
}

/** The running chain and service of `npm start`. */
export interface LocalDeployment extends RunningProgram {
  readonly dataFolder: string
  readonly sandbox: Sandbox
}

/**
 * Starts the local chain, then the service, each in its own process; resolves when both answer. When it throws, nothing
 * is left running. `progress` is told what it waits for.
 */
export async function startEverything(
  mains: Mains,
  env: NodeJS.ProcessEnv,
  stop: AbortSignal,
  progress: (line: string) => void = () => undefined,
): Promise<LocalDeployment> {
  const childEnv = await checkedEnvironment(env)
  const { host, servicePort, dataFolder, chains } = readDevnetConfig(childEnv)
  const url = httpUrl(host, servicePort)
  const children: ChildProgram[] = []
  // Stops only once: a second signal would end a child that is still finishing its requests.
  let closing: Promise<void> | undefined
  const close = (): Promise<void> => (closing ??= stopAll(children))
  stop.addEventListener('abort', () => void close(), { once: true })
  try {
    progress(`Starting the local chain with ${chains.length === 1 ? '1 chain' : `${chains.length} chains`} ...`)
    const building = readServerConfig(childEnv).console === 'on' ? mains.buildConsole?.(progress) : undefined
    await Promise.all([launch(children, stop, { name: 'local chain', file: mains.chain, env: childEnv }), building])
    const sandbox = readSandbox(dataFolder)
    progress('Starting the service ...')
    await launch(children, stop, { name: 'service', file: mains.service, env: withRelayer(childEnv, sandbox) })
    await Promise.race([waitUntilReady(url, stop, progress), firstEnd(children, stop)])
    const failed = firstEnd(children, stop).catch(async (error: unknown) => {
      await close()
      throw error
    })
    return { url, dataFolder, sandbox, close, failed }
  } catch (error) {
    await close()
    throw stop.aborted ? stop.reason : error
  }
}

/** Returns the environment for both children, with checked settings and fixed free ports, before anything starts. */
async function checkedEnvironment(env: NodeJS.ProcessEnv): Promise<NodeJS.ProcessEnv> {
  const chain = readDevnetConfig(env)
  const service = readServerConfig(env)
  refuseOtherChains(service.chainsFile, chain.dataFolder)
  if (chain.port === service.port && chain.port !== 0) {
    throw new StartupError(`PORT and DEVNET_PORT are both ${chain.port}: set one of them to another port.`)
  }
  const chainPort = await freePort({ setting: 'DEVNET_PORT', host: chain.host, port: chain.port })
  const servicePort = await freePort({ setting: 'PORT', host: service.host, port: service.port })
  // Logs only warnings by default: the terminal shows the addresses, not every request.
  const logLevel = env.LOG_LEVEL || 'warn'
  return { ...env, DEVNET_PORT: String(chainPort), PORT: String(servicePort), LOG_LEVEL: logLevel }
}

/**
 * Refuses a chains file of other chains: the sandbox wipes its data at each start and lends the service a key that
 * everybody knows.
 */
function refuseOtherChains(chainsFile: string, dataFolder: string): void {
  if (chainsFile === join(dataFolder, DEVNET_FILE_NAME)) return
  throw new StartupError(
    `npm start runs the sandbox with a chain of its own, and BEZEL_CHAINS_FILE names other chains (${chainsFile}): use npm run serve for those, or leave BEZEL_CHAINS_FILE out.`,
  )
}

/** Reads what the local chain says about itself. Without its file the service does not start, and says why. */
function readSandbox(dataFolder: string): Sandbox {
  const file = join(dataFolder, DEVNET_FILE_NAME)
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Sandbox) : { chains: {}, accounts: [] }
}

/** Adds the relayer key: the local chain's account of that name, unless another one is set. */
function withRelayer(env: NodeJS.ProcessEnv, { accounts }: Sandbox): NodeJS.ProcessEnv {
  if (env.BEZEL_RELAYER_KEY || env.BEZEL_RELAYER_KEY_FILE) return env
  const relayer = accounts.find(({ name }) => name === 'relayer')
  return relayer === undefined ? env : { ...env, BEZEL_RELAYER_KEY: relayer.privateKey }
}

async function launch(
  children: ChildProgram[],
  stop: AbortSignal,
  of: Parameters<typeof startChild>[0],
): Promise<void> {
  stop.throwIfAborted()
  const child = startChild(of)
  children.push(child)
  await child.ready
}

/** Stops the children, the service first because it needs the chain. */
async function stopAll(children: readonly ChildProgram[]): Promise<void> {
  for (const child of children.toReversed()) await child.stop()
}

/** Rejects when a child ends without having been told to. */
async function firstEnd(children: readonly ChildProgram[], stop: AbortSignal): Promise<never> {
  const end = await Promise.race(children.map(async ({ name, ended }) => `The ${name} ended (${await ended})`))
  await sleep(SIGNAL_GRACE_MS)
  if (stop.aborted) return new Promise<never>(() => undefined)
  throw new StartupError(`${end}, so everything else was stopped too: see its messages above.`)
}
