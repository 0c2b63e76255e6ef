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
  /** Below its node_modules. */
  readonly sdk: string
  /** Compiles `trade.ts` and what the README shows under strict rules; throws with what the compiler said. */
  compile(options?: Record<string, unknown>): Promise<void>
  remove(): void
}

/** What a careful project has, and more: declarations are checked, too. */
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

/** Types that took this would be no types: then there is nothing to expect, and that is an error. */
const WRONG = `
import type { BezelClient, CreateOrderRequest, StreamSubscription } from '@bezel/sdk'
// @ts-expect-error
export const side: CreateOrderRequest['side'] = 'up'
// @ts-expect-error
export const told = (client: BezelClient): StreamSubscription<string> => client.events()
`

/** Builds, packs and installs. viem is that of the repository, so that nothing is downloaded. */
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

/** Each example of the README as a file of its own. Their names. */
function writeSnippets(project: string, sdk: string): string[] {
  const snippets = readFileSync(join(sdk, 'README.md'), 'utf8').matchAll(/^```ts\n(.*?)^```$/gms)
  return [...snippets].map(([, text], at) => {
    const name = `snippet${at}.ts`
    writeFileSync(join(project, name), text!)
    return name
  })
}
