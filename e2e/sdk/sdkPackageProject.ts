import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { buildPackage } from '../../packages/sdk/build/buildPackage.ts'

const run = promisify(execFile)
const require = createRequire(import.meta.url)
const packageFolder = (name: string): string => dirname(require.resolve(`${name}/package.json`))

/** An empty project, outside the repository, that installed the packed SDK. */
export interface SdkPackageProject {
  readonly folder: string
  /** The folder of the SDK in node_modules. */
  readonly sdk: string
  /** Compiles `trade.ts` and the README's examples under strict rules, for node by default; throws the messages. */
  compile(options?: Record<string, unknown>): Promise<void>
  remove(): void
}

/** The compiler options of a careful project, and more: declarations are checked too. */
const STRICT = {
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  verbatimModuleSyntax: true,
  skipLibCheck: false,
  target: 'es2022',
  lib: ['es2023', 'dom', 'dom.iterable', 'dom.asynciterable'],
  types: [],
  outDir: 'out',
}

/** Code that the types must refuse. If they accept it, `@ts-expect-error` is an error itself. */
const WRONG = `
import type { BezelClient, CreateOrderRequest, OrdersChange, StreamSubscription } from '@bezel/sdk'
// @ts-expect-error
export const side: CreateOrderRequest['side'] = 'up'
// @ts-expect-error
export const told = (client: BezelClient): StreamSubscription<string> => client.events()
// @ts-expect-error
export const resumed = (client: BezelClient): unknown => client.stream().prices({ fromSeq: 1 })
// @ts-expect-error
export const fresh = (client: BezelClient): StreamSubscription<OrdersChange> => client.stream().orders()
`

/** Builds, packs and installs the SDK. viem comes from the repository, so that nothing is downloaded. */
export async function createSdkPackageProject(): Promise<SdkPackageProject> {
  const folder = mkdtempSync(join(tmpdir(), 'bezel-sdk-'))
  const [built, project] = [join(folder, 'built'), join(folder, 'project')]
  await buildPackage(built)
  mkdirSync(project)
  writeFileSync(join(project, 'package.json'), JSON.stringify({ name: 'someone', version: '1.0.0', type: 'module' }))
  const { stdout } = await run('npm', ['pack', '--silent', '--pack-destination', folder], { cwd: built })
  const flags = ['--offline', '--legacy-peer-deps', '--ignore-scripts', '--no-audit', '--no-fund']
  await run('npm', ['install', ...flags, join(folder, stdout.trim())], { cwd: project })
  symlinkSync(packageFolder('viem'), join(project, 'node_modules', 'viem'))
  const trade = readFileSync(new URL('sdkPackageTrade.ts', import.meta.url), 'utf8')
  writeFileSync(join(project, 'trade.ts'), trade + WRONG)
  const sdk = join(project, 'node_modules', '@bezel', 'sdk')
  return {
    folder: project,
    sdk,
    async compile(options = { module: 'nodenext', moduleResolution: 'nodenext' }) {
      const compilerOptions = { ...STRICT, ...options }
      const files = ['trade.ts', ...writeSnippets(project, sdk)]
      writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }))
      const tsc = join(packageFolder('typescript'), 'bin', 'tsc')
      await run(process.execPath, [tsc, '--project', project]).catch((error: { stdout?: string }) => {
        throw new Error(`it does not compile:\n${error.stdout}`, { cause: error })
      })
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

/** Writes each example of the README into a file. Returns the names. */
function writeSnippets(project: string, sdk: string): string[] {
  const snippets = readFileSync(join(sdk, 'README.md'), 'utf8').matchAll(/^```ts\n(.*?)^```$/gms)
  return [...snippets].map(([, text], at) => {
    const name = `snippet${at}.ts`
    writeFileSync(join(project, name), text!)
    return name
  })
}
