import { fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { CHAINS } from '@bezel/protocol'
import { endChild } from '@bezel/testkit/startDevnet.ts'
import { healthyAnswer, startStandInNode } from '@bezel/testkit/standInNode.ts'
import { within } from '@bezel/testkit/until.ts'

const ROOT = new URL('../../', import.meta.url)

/** A run of a program of Bezel: it serves, or it has said why not. */
export interface ProgramRun {
  /** `undefined` when it serves. */
  readonly refusal: string | undefined
  end(signal: NodeJS.Signals): Promise<void>
}

/** A machine on which an operator wants to serve a live Diamond; a stand-in answers in place of its node. */
export interface LiveDeployment {
  readonly folder: string
  readonly chainsFile: string
  /** Runs `npm run serve`: the program that package.json names, on this node. */
  serve(env?: Record<string, string>): Promise<ProgramRun>
  /** Runs `npm start` until it gives up. Returns everything it printed; throws when it starts. */
  failedStart(env?: Record<string, string>): Promise<string>
  close(): Promise<void>
}

export async function openLiveDeployment(): Promise<LiveDeployment> {
  const folder = mkdtempSync(join(tmpdir(), 'bezel-live-'))
  const node = await startStandInNode(healthyAnswer(CHAINS.base.chainId))
  const chainsFile = join(folder, 'chains.json')
  const chains = { base: { chainId: CHAINS.base.chainId, rpcUrl: node.url, diamond: CHAINS.base.liveDiamond } }
  // The feed refuses connections: nothing here needs a price.
  writeFileSync(chainsFile, JSON.stringify({ chains, feedUrl: 'http://127.0.0.1:1' }))
  const own: NodeJS.ProcessEnv = {
    PATH: process.env['PATH'],
    NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
    PORT: '0',
    LOG_LEVEL: 'silent',
    BEZEL_CHAINS_FILE: chainsFile,
    BEZEL_DATA: join(folder, 'data'),
  }
  const running: ProgramRun[] = []
  return {
    folder,
    chainsFile,
    async serve(env = {}) {
      const run = await runProgram(programOf('serve'), { ...own, BEZEL_DOMAIN_NAME: 'My API', ...env })
      running.push(run)
      return run
    },
    failedStart: (env = {}) => runToItsEnd(programOf('start'), { ...own, DEVNET_PORT: '0', ...env }),
    async close() {
      for (const run of running) await run.end('SIGKILL')
      await node.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** A file with the words that it is started with. */
interface Program {
  readonly file: string
  readonly words: readonly string[]
}

/** Returns the program that an npm script runs, by itself or as the last command of a shell script. */
function programOf(script: string): Program {
  const { scripts } = JSON.parse(readFileSync(new URL('package.json', ROOT), 'utf8')) as {
    readonly scripts: Readonly<Record<string, string>>
  }
  const command = scripts[script] ?? ''
  const shell = /^exec sh (\S+)$/.exec(command)?.[1]
  const last = shell === undefined ? command : readFileSync(new URL(shell, ROOT), 'utf8').trimEnd().split('\n').at(-1)!
  const [, file, words = ''] = /^exec node (\S+)((?: \w+)*)(?: "\$@")?$/.exec(last) ?? []
  if (file === undefined) throw new Error(`there is no npm script ${script} that only runs a file`)
  return { file: fileURLToPath(new URL(file, ROOT)), words: words.split(' ').filter((word) => word !== '') }
}

/** Starts a program. Resolves when it says that it is ready, or when it has ended. */
async function runProgram({ file, words }: Program, env: NodeJS.ProcessEnv): Promise<ProgramRun> {
  const child = fork(file, words, { env, stdio: ['ignore', 'ignore', 'pipe', 'ipc'] })
  let printed = ''
  child.stderr!.on('data', (chunk) => (printed += String(chunk)))
  const ready = once(child, 'message').then(() => undefined)
  const ended = once(child, 'close').then(() => printed)
  const refusal = await within('a program serves or ends', () => Promise.race([ready, ended]))
  return { refusal, end: (signal) => endChild(child, 'the program', signal) }
}

async function runToItsEnd({ file, words }: Program, env: NodeJS.ProcessEnv): Promise<string> {
  const child = spawn(process.execPath, [file, ...words], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (printed += String(chunk)))
  try {
    const ready = new Promise<never>((_, reject) => {
      child.stdout.on('data', () => printed.includes('READY') && reject(new Error(`it started: ${printed}`)))
    })
    await within('a program ends', () => Promise.race([once(child, 'close'), ready]))
    return printed
  } finally {
    await endChild(child, 'the program', 'SIGTERM')
  }
}
