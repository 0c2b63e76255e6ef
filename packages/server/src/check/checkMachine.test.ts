import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { StartupError } from '@bezel/protocol'
import { MIGRATIONS } from '../store/migrations/index.ts'
import type { LiveNode } from '../store/nodeStore.ts'
import type { StoreLook } from '../store/openConfiguredStore.ts'
import { checkDataFolder, judgeClock, judgeRelayerKey, judgeStore, startFinding } from './checkMachine.ts'

const DATA_FOLDER_MODULE = new URL('../../../protocol/src/program/dataFolder.ts', import.meta.url).href

describe('checkDataFolder', () => {
  const scratch = mkdtempSync(join(tmpdir(), 'bezel-check-'))
  after(() => rmSync(scratch, { recursive: true, force: true }))

  function folderOf(name: string, ...files: string[]): string {
    const folder = join(scratch, name)
    mkdirSync(folder, { mode: 0o700 })
    for (const file of files) writeFileSync(join(folder, file), '', { mode: 0o600 })
    return folder
  }

  it('takes a folder that is not there, without making it', () => {
    const folder = join(scratch, 'a', 'b')
    assert.deepEqual(
      checkDataFolder(folder, []).map(({ mark }) => mark),
      ['ok'],
    )
    assert.ok(!existsSync(join(scratch, 'a')))
  })

  it('says that an open folder will be closed, and leaves it open', () => {
    const folder = folderOf('open', 'bezel.db')
    chmodSync(folder, 0o755)
    const [finding] = checkDataFolder(folder, [])
    assert.deepEqual([finding!.mark, /open to other users now/.test(finding!.text)], ['ok', true])
    assert.equal(statSync(folder).mode & 0o777, 0o755)
    const files = folderOf('files', 'bezel.db')
    chmodSync(join(files, 'bezel.db'), 0o644)
    assert.match(checkDataFolder(files, [])[0]!.text, /open to other users now/)
    assert.match(checkDataFolder(folderOf('closed', 'bezel.db'), [])[0]!.text, /can be used\.$/)
  })

  it('refuses what a start refuses: folders of others, and those that all users write to', () => {
    const home = folderOf('home', '.profile')
    assert.match(checkDataFolder(home, [])[0]!.text, /holds files that are not Bezel's \(\.profile\)/)
    assert.equal(checkDataFolder(home, [join(home, '.profile')])[0]!.mark, 'ok')
    const shared = folderOf('shared')
    chmodSync(shared, 0o1777)
    assert.match(checkDataFolder(shared, [])[0]!.text, /is one that all users write to/)
    writeFileSync(join(scratch, 'file'), '')
    assert.equal(checkDataFolder(join(scratch, 'file'), [])[0]!.mark, 'failure')
  })

  it('tells of a service on the folder, also of one that has ended, and writes nothing', async () => {
    const folder = folderOf('served')
    const locking = `const { lockService } = await import(${JSON.stringify(DATA_FOLDER_MODULE)})
      lockService(${JSON.stringify(folder)}); console.log('locked'); setInterval(() => undefined, 1000)`
    const child = spawn(process.execPath, ['--input-type=module', '-e', locking], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    await once(child.stdout, 'data')
    const names = readdirSync(folder)
    const running = checkDataFolder(folder, [])[1]!
    child.kill('SIGKILL')
    await once(child, 'exit')
    assert.deepEqual([running.mark, /runs on this data folder/.test(running.text)], ['note', true])
    assert.match(checkDataFolder(folder, [])[1]!.text, /^No service runs/)
    assert.deepEqual(readdirSync(folder), names)
  })
})

describe('judgeClock', () => {
  const judge = (...ahead: number[]) => judgeClock(ahead.map((aheadMs) => ({ aheadMs })))

  it('warns from two seconds on, and fails from thirty', () => {
    assert.deepEqual(
      [0, 2_000, -2_001, 30_000, -30_001].map((ms) => judge(ms).mark),
      ['ok', 'ok', 'warning', 'warning', 'failure'],
    )
    assert.match(judge(60_000).text, /clock is 60 s ahead of that of one server: set it/)
    assert.match(judge(-60_000).text, /60 s behind/)
  })

  it('believes most servers, not the one that is wrong', () => {
    assert.equal(judge(0, 90_000, 0).mark, 'ok')
    assert.equal(judge(90_000, 90_000, 0).mark, 'failure')
    assert.equal(judge().mark, 'note')
  })
})

describe('findings about this machine', () => {
  it('turn a refused start into a failure, and nothing else', () => {
    assert.equal(startFinding('start', () => undefined, 'Good.').text, 'Good.')
    const refused = startFinding(
      'start',
      () => {
        throw new StartupError('Set a name.')
      },
      'Good.',
    )
    assert.deepEqual(refused, { check: 'start', mark: 'failure', text: 'Set a name.' })
    assert.throws(() => startFinding('start', () => assert.fail('a bug'), 'Good.'), /a bug/)
  })

  it('tell whether the relayer has a key', () => {
    assert.equal(judgeRelayerKey(undefined).mark, 'note')
  })
})

describe('judgeStore', () => {
  const newest = MIGRATIONS.length
  const look = { engine: 'postgres', version: newest, isUsable: true, nodes: [], clockAheadMs: 0 } as const
  const told = (of: StoreLook | undefined): string[] => judgeStore(of).map(({ mark, text }) => `${mark}: ${text}`)
  const node = (id: string, version: string): LiveNode => ({
    id,
    version,
    schema: newest,
    roles: 'api',
    startedAtMs: 1,
    silentMs: 400,
  })

  it('says what a start would do to the schema, and what it would refuse', () => {
    assert.deepEqual(told(undefined), [])
    assert.match(told({ ...look, version: 0 })[0]!, /^ok: .*no data yet/)
    assert.match(told({ ...look, version: newest - 1 })[0]!, new RegExp(`^ok: .*from ${newest - 1} to ${newest}\\.$`))
    assert.match(told(look)[0]!, /^ok: .*has data\.$/)
    assert.match(told({ ...look, version: newest + 1 })[0]!, /^ok: .*newer Bezel .*only added/)
    const refused = told({ ...look, version: newest + 1, isUsable: false })[0]!
    assert.match(refused, /^failure: .*newer Bezel .*start that version/)
  })

  it('names the services that run, and warns of several versions', () => {
    assert.equal(told(look)[2], 'ok: No service runs on the database.')
    const one = told({ ...look, nodes: [node('a1', '1.0.0')] })[2]!
    assert.equal(
      one,
      `ok: 1 service on the data: a1, version 1.0.0 with schema ${newest}, last sign of life 400 ms ago.`,
    )
    assert.match(told({ ...look, nodes: [node('a1', '1.0.0'), node('b2', '1.0.0')] })[2]!, /^ok: 2 services .*a1.*b2/)
    for (const other of [node('b2', '1.0.1'), { ...node('b2', '1.0.0'), schema: newest + 1 }]) {
      const warned = told({ ...look, nodes: [node('a1', '1.0.0'), other] })[2]!
      assert.match(warned, /^warning: Services of several versions run .*a1.*b2.*Bring all of them to one version\.$/)
    }
  })

  it("refuses a clock that is more than a second from the database's", () => {
    assert.equal(told({ ...look, clockAheadMs: -1_000 })[1], "ok: This machine's clock agrees with that of PostgreSQL.")
    assert.match(told({ ...look, clockAheadMs: -1_001 })[1]!, /^failure: This machine's clock is 1\.0 s behind that/)
    assert.match(told({ ...look, clockAheadMs: 2_500 })[1]!, /^failure: .* 2\.5 s ahead of that of PostgreSQL, .*: set/)
  })

  it('says of SQLite only who runs', () => {
    assert.deepEqual(told({ ...look, engine: 'sqlite' }), [])
    assert.match(
      told({ ...look, engine: 'sqlite', nodes: [node('a1', '1.0.0')] })[0]!,
      /^ok: 1 service on the data: a1/,
    )
  })
})
