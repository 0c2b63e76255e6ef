import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import fs, {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, describe, it, mock } from 'node:test'
import { inspectPrivateFolder, isServiceRunning, lockFile, lockService, makePrivateFolder } from './dataFolder.ts'
import { StartupError } from './runProgram.ts'

const scratch = mkdtempSync(join(tmpdir(), 'bezel-private-'))
after(() => rmSync(scratch, { recursive: true, force: true }))

let count = 0
const newPath = (): string => join(scratch, `entry-${count++}`)
const modeOf = (path: string): string => (statSync(path).mode & 0o7777).toString(8)

function openFolder(...names: string[]): string {
  const folder = newPath()
  mkdirSync(folder)
  for (const name of names) {
    writeFileSync(join(folder, name), '')
    chmodSync(join(folder, name), 0o644)
  }
  chmodSync(folder, 0o755)
  return folder
}

describe('inspectPrivateFolder', () => {
  it('tells the state of a folder, and changes nothing', () => {
    const [missing, open, files, closed] = [newPath(), openFolder(), openFolder('bezel.db'), openFolder()]
    chmodSync(files, 0o700)
    chmodSync(closed, 0o700)
    const folders = [missing, open, files, closed]
    assert.deepEqual(
      folders.map((folder) => inspectPrivateFolder(folder)),
      ['missing', 'open', 'open', 'private'],
    )
    assert.deepEqual([existsSync(missing), modeOf(open), modeOf(join(files, 'bezel.db'))], [false, '755', '644'])
  })

  it('refuses what a start refuses', () => {
    const [home, shared] = [openFolder('.profile'), openFolder()]
    chmodSync(shared, 0o1777)
    for (const folder of [home, shared]) {
      const refusal = (step: () => unknown): string => {
        try {
          return String(step())
        } catch (error) {
          return (error as Error).message
        }
      }
      const told = refusal(() => inspectPrivateFolder(folder))
      assert.match(told, /^The data folder /)
      assert.equal(
        told,
        refusal(() => makePrivateFolder(folder)),
      )
    }
    assert.equal(inspectPrivateFolder(home, [join(home, '.profile')]), 'open')
  })
})

describe('isServiceRunning', () => {
  it('is false without a lock file, with one that nobody holds, and with something else in its place', () => {
    const folder = openFolder()
    assert.equal(isServiceRunning(folder), false)
    assert.deepEqual(readdirSync(folder), [])
    lockService(folder)!.release()
    assert.equal(isServiceRunning(folder), false)
    const odd = openFolder()
    mkdirSync(join(odd, 'bezel.lock'))
    assert.equal(isServiceRunning(odd), false)
  })
})

describe('makePrivateFolder', () => {
  it('makes folders at any depth for their owner alone, whatever the mask', () => {
    const folder = join(newPath(), 'a', 'b')
    makePrivateFolder(folder)
    assert.equal(modeOf(folder), '700')
    // Node's recursive mkdir would never return from here.
    if (existsSync('/proc/self')) assert.throws(() => makePrivateFolder('/proc/bezel/data'), StartupError)
  })

  it('closes an empty folder, and one of an earlier version with its files', () => {
    const names = ['bezel.db', 'bezel.db-wal', 'bezel.db-shm', 'nonces.log', 'nonces.log.old', 'devnet.json']
    const [empty, old] = [openFolder(), openFolder(...names)]
    for (const folder of [empty, old]) makePrivateFolder(folder)
    assert.deepEqual([modeOf(empty), modeOf(old)], ['700', '700'])
    for (const name of names) assert.equal(modeOf(join(old, name)), '600', name)
  })

  it('takes a fresh volume, and a folder into which the operator put the files that the settings name', () => {
    const [volume, prepared] = [openFolder(), openFolder('chains.json')]
    mkdirSync(join(volume, 'lost+found'))
    mkdirSync(join(prepared, 'keys'))
    makePrivateFolder(volume)
    makePrivateFolder(prepared, [join(prepared, 'chains.json'), join(prepared, 'keys', 'relayer.key')])
    assert.deepEqual([modeOf(volume), modeOf(prepared)], ['700', '700'])
  })

  it('knows those files also through links, of the folder and of theirs', () => {
    const [real, link, outside] = [openFolder('chains.json'), newPath(), openFolder('relayer.key')]
    symlinkSync(real, link)
    symlinkSync(outside, join(real, 'keys'))
    const [chains, key] = [join(real, 'chains.json'), join('keys', 'relayer.key')]
    assert.throws(() => makePrivateFolder(link, [chains]), /not Bezel's \(keys\)/)
    assert.throws(() => makePrivateFolder(link, [join(real, key)]), /not Bezel's \(chains\.json\)/)
    makePrivateFolder(link, [chains, join(link, key)])
    makePrivateFolder(real, [join(link, 'chains.json'), join(real, key)])
    const [plain, elsewhere] = [openFolder('relayer.key'), newPath()]
    symlinkSync(join(plain, 'relayer.key'), elsewhere)
    makePrivateFolder(plain, [elsewhere])
    assert.deepEqual([real, plain, outside].map(modeOf), ['700', '700', '755'])
  })

  it('takes a folder in which a system left its own files', () => {
    const folder = openFolder('.DS_Store')
    makePrivateFolder(folder)
    assert.deepEqual([modeOf(folder), modeOf(join(folder, '.DS_Store'))], ['700', '644'])
  })

  it('tells how to keep the data of a folder, or of files, that only another user could close', () => {
    const refusalOf = (folder: string): string => {
      mock.method(fs, 'chmodSync', (path: string) => {
        throw Object.assign(new Error(`EPERM, chmod ${path}`), { code: 'EPERM', syscall: 'chmod' })
      })
      syncBuiltinESMExports()
      try {
        makePrivateFolder(folder)
      } catch (error) {
        assert.ok(error instanceof StartupError)
        return error.message.replace(folder, '~')
      } finally {
        mock.restoreAll()
        syncBuiltinESMExports()
      }
      return assert.fail('it was taken')
    }
    const [volume, files] = [openFolder('bezel.db', 'nonces.log'), openFolder('bezel.db')]
    chmodSync(volume, 0o2775)
    chmodSync(files, 0o700)
    const why = "is open to other users and can't be closed to them (EPERM)"
    const own = "make the service's user its owner (chown)"
    const move = "move Bezel's files to a folder of its own and set BEZEL_DATA to that one"
    assert.equal(refusalOf(volume), `The data folder ~ ${why}: ${own}, or ${move}.`)
    assert.equal(refusalOf(files), `The data file ~/bezel.db ${why}: ${own}.`)
    const fresh = openFolder()
    assert.match(refusalOf(fresh), /\(EPERM\): set BEZEL_DATA to a folder of its own, such as ~?\S*\/bezel\.$/)
    makePrivateFolder(volume)
    assert.equal(modeOf(join(volume, 'bezel.db')), '600')
  })

  it("leaves files that are not Bezel's, the mode of a file that is stricter, and whatever a link points to", () => {
    const [outside, folder] = [newPath(), openFolder('bezel.db', 'bezel.lock', 'notes.txt')]
    writeFileSync(outside, '')
    chmodSync(outside, 0o644)
    symlinkSync(outside, join(folder, 'nonces.log'))
    chmodSync(join(folder, 'bezel.lock'), 0o400)
    makePrivateFolder(folder)
    const modes = [join(folder, 'bezel.lock'), join(folder, 'notes.txt'), outside].map(modeOf)
    assert.deepEqual(modes, ['400', '644', '644'])
  })

  it("never touches a folder of others: one with files that are not Bezel's, or one that all users write to", () => {
    const [home, closedHome] = [openFolder('.profile'), openFolder('.profile')]
    const [temporary, used] = [openFolder(), openFolder('bezel.db')]
    chmodSync(closedHome, 0o700)
    for (const folder of [temporary, used]) chmodSync(folder, 0o1777)
    const [other, move] = [
      /: set BEZEL_DATA to a folder of its own, such as \S+\/bezel\.$/,
      /: move Bezel's files to a/,
    ]
    for (const folder of [home, closedHome, temporary, used]) {
      const [mode, names] = [modeOf(folder), readdirSync(folder)]
      assert.throws(
        () => makePrivateFolder(folder, [join(scratch, 'chains.json')]),
        (error) => {
          assert.ok(error instanceof StartupError)
          assert.match(error.message, /holds files that are not Bezel's \(\.profile\)|is one that all users write to/)
          assert.match(error.message, folder === used ? move : other)
          return true
        },
      )
      assert.deepEqual([modeOf(folder), readdirSync(folder)], [mode, names])
      for (const name of names) assert.equal(modeOf(join(folder, name)), '644')
    }
  })

  it('says so when the folder is a file', () => {
    const file = newPath()
    writeFileSync(file, '')
    assert.throws(() => makePrivateFolder(file), /can't be used \(ENOTDIR\): set BEZEL_DATA to another folder/)
  })
})

/** Starts a process that takes the lock, forgets it, collects its garbage, and says whether it won. */
async function lockElsewhere(
  path: string,
): Promise<{ readonly outcome: string; end(signal: NodeJS.Signals): Promise<void> }> {
  const code = `
    const { lockFile } = await import(${JSON.stringify(new URL('./dataFolder.ts', import.meta.url).href)})
    const hasWon = (() => lockFile(${JSON.stringify(path)}) !== undefined)()
    await null
    for (let round = 0; round < 3; round += 1) globalThis.gc()
    setInterval(() => undefined, 1000)
    console.log(hasWon ? 'won' : 'refused')`
  const args = ['--expose-gc', '--input-type=module', '--eval', code]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const [outcome] = (await once(child.stdout, 'data')) as [Buffer]
  return {
    outcome: outcome.toString().trim(),
    async end(signal) {
      child.kill(signal)
      await once(child, 'exit')
    },
  }
}

describe('lockFile', () => {
  it('has one holder in a process, until it is released', () => {
    const path = newPath()
    const first = lockFile(path)!
    assert.equal(modeOf(path), '600')
    assert.equal(lockFile(path), undefined)
    first.release()
    first.release()
    const second = lockFile(path)!
    assert.equal(lockFile(path), undefined)
    second.release()
  })

  it('is held by a process that forgot it, and released by the system however that process ends', async () => {
    const path = newPath()
    for (const signal of ['SIGKILL', 'SIGTERM', 'SIGSEGV'] as const) {
      const holder = await lockElsewhere(path)
      assert.equal(holder.outcome, 'won', signal)
      assert.equal(lockFile(path), undefined)
      await holder.end(signal)
      const own = lockFile(path)
      assert.notEqual(own, undefined, signal)
      own!.release()
    }
  })

  it('refuses a link and a folder, and follows neither', () => {
    const [link, folder] = [newPath(), newPath()]
    symlinkSync(join(scratch, 'elsewhere'), link)
    mkdirSync(folder)
    for (const path of [link, folder]) assert.throws(() => lockFile(path), /is not a plain file/)
    assert.ok(!existsSync(join(scratch, 'elsewhere')))
  })
})

describe('lockService', () => {
  /** Opens the database of a folder as the service does, with something in its WAL. */
  function openDatabase(folder: string): DatabaseSync {
    const database = new DatabaseSync(join(folder, 'bezel.db'))
    database.exec('pragma journal_mode = wal; create table if not exists kept (x); insert into kept values (1)')
    return database
  }

  it('lets nobody in beside a service whose lock file was deleted, again and again, until that service has ended', () => {
    const folder = openFolder()
    const lock = lockService(folder)!
    const database = openDatabase(folder)
    assert.equal(lockService(folder), undefined)
    rmSync(join(folder, 'bezel.lock'))
    for (const _ of [1, 2]) assert.throws(() => lockService(folder), /bezel\.db is open in another program, probably a/)
    database.exec('insert into kept values (2)')
    database.close()
    lock.release()
    lockService(folder)!.release()
    const next = openDatabase(folder)
    assert.equal(next.prepare('select x from kept').all().length, 3)
    next.close()
  })

  it('lets a service start beside a program that only has the database open', () => {
    const folder = openFolder()
    lockService(folder)!.release()
    const shell = openDatabase(folder)
    lockService(folder)!.release()
    shell.close()
  })

  it('leaves a damaged database to the store, and never says that a lock file should be removed', () => {
    const folder = openFolder('bezel.db')
    writeFileSync(join(folder, 'bezel.db'), 'x'.repeat(5_000))
    lockService(folder)!.release()
    writeFileSync(join(folder, 'bezel.lock'), 'x'.repeat(5_000))
    assert.throws(
      () => lockService(folder),
      (error) => error instanceof StartupError && /can't be used/.test(error.message) && !/remove/.test(error.message),
    )
  })
})
