import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { StartupError } from '@bezel/protocol'
import { lockFile } from '@bezel/protocol/dataFolder'
import { claimDataFolder, DATA_LAYOUT_VERSION } from './dataFolder.ts'

const scratch = mkdtempSync(join(tmpdir(), 'bezel-data-folder-'))
after(() => rmSync(scratch, { recursive: true, force: true }))

const MARKER = 'bezel-devnet-marker.json'
let count = 0
const newPath = (): string => join(scratch, `folder-${count++}`)

/** Makes a folder that an ended devnet left behind. */
function leftFolder(marker: string = JSON.stringify({ layout: DATA_LAYOUT_VERSION, pid: process.pid })): string {
  const folder = newPath()
  mkdirSync(join(folder, 'store'), { recursive: true })
  writeFileSync(join(folder, 'store', 'orders.sqlite'), 'old')
  writeFileSync(join(folder, 'devnet.json'), '{}')
  writeFileSync(join(folder, MARKER), marker)
  return folder
}

function claim(folder: string): { lines: string[]; release: () => void } {
  const lines: string[] = []
  const { release } = claimDataFolder(folder, (line) => lines.push(line))
  return { lines, release }
}

const listing = (folder: string): string[] => readdirSync(folder, { recursive: true }).map(String).toSorted()

function refusal(folder: string): string {
  const before = listing(folder)
  try {
    claimDataFolder(folder, () => assert.fail('wiped'))
  } catch (error) {
    assert.ok(error instanceof StartupError, String(error))
    assert.deepEqual(listing(folder), before, 'nothing was touched')
    return error.message
  }
  return assert.fail('not refused')
}

/** Starts another process that tries to claim the folder, reports the result, and holds its claim until it is ended. */
async function claimElsewhere(
  folder: string,
  flags: string[] = [],
): Promise<{ pid: number; outcome: string; end: () => Promise<void> }> {
  const code = `
    const { claimDataFolder } = await import(${JSON.stringify(new URL('./dataFolder.ts', import.meta.url).href)})
    setInterval(() => undefined, 1000)
    const claimAndForget = () => { claimDataFolder(${JSON.stringify(folder)}, () => undefined) }
    try { claimAndForget(); await null; globalThis.gc?.(); console.log('won') }
    catch (error) { console.log(error.name) }`
  const args = [...flags, '--input-type=module', '--eval', code]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const [outcome] = (await once(child.stdout, 'data')) as [Buffer]
  const end = async (): Promise<void> => {
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
  return { pid: child.pid!, outcome: outcome.toString().trim(), end }
}

describe('claimDataFolder', () => {
  it('makes a missing folder, and its marker', () => {
    const folder = join(newPath(), 'deep', 'er')
    const { lines, release } = claim(folder)
    const marker: unknown = JSON.parse(readFileSync(join(folder, MARKER), 'utf8'))
    assert.deepEqual(marker, { layout: DATA_LAYOUT_VERSION, pid: process.pid })
    assert.deepEqual(lines, [])
    release()
    release()
  })

  it('takes an empty folder', () => {
    const folder = newPath()
    mkdirSync(folder)
    claim(folder).release()
  })

  it('takes a fresh volume, and never touches what the file system keeps there', () => {
    const folder = newPath()
    mkdirSync(join(folder, 'lost+found'), { recursive: true })
    writeFileSync(join(folder, 'lost+found', '#12'), 'kept')
    for (const _ of [1, 2]) claim(folder).release()
    assert.ok(existsSync(join(folder, 'lost+found', '#12')))
  })

  it('wipes what an earlier devnet left, and says so in one line', () => {
    const folder = leftFolder()
    const { lines, release } = claim(folder)
    assert.deepEqual(readdirSync(folder).toSorted(), [MARKER, 'bezel-devnet.lock', 'bezel.lock'])
    assert.equal(lines.length, 1)
    assert.match(lines[0]!, /^Wiped .*: each start is a fresh chain\.$/)
    release()
  })

  it('never follows a symbolic link out of the folder', () => {
    const outside = newPath()
    mkdirSync(outside)
    writeFileSync(join(outside, 'precious'), 'kept')
    const folder = leftFolder()
    symlinkSync(outside, join(folder, 'link-to-folder'))
    symlinkSync(join(outside, 'precious'), join(folder, 'store', 'link-to-file'))
    claim(folder).release()
    assert.equal(readFileSync(join(outside, 'precious'), 'utf8'), 'kept')
    assert.ok(!existsSync(join(folder, 'link-to-folder')))
  })

  it('refuses a folder of somebody else and touches nothing', () => {
    const folder = newPath()
    mkdirSync(folder)
    writeFileSync(join(folder, 'thesis.txt'), 'work of years')
    assert.match(refusal(folder), /holds files that no local chain left there, so nothing was touched: set BEZEL_DATA/)
  })

  it('refuses a folder of another layout version', () => {
    assert.match(
      refusal(leftFolder('{"layout":2,"pid":1}')),
      /data layout 2 and this one has data layout 1: remove the folder/,
    )
  })

  it('refuses a marker it can not read', () => {
    for (const marker of ['', 'garbage', '[]', 'null', '{"layout":"1","pid":1}', '{"layout":1}']) {
      assert.match(refusal(leftFolder(marker)), /made by another version of Bezel/, marker)
    }
  })

  it('refuses a marker that is a symbolic link', () => {
    const folder = leftFolder()
    rmSync(join(folder, MARKER))
    writeFileSync(join(scratch, 'real-marker'), JSON.stringify({ layout: DATA_LAYOUT_VERSION, pid: 1 }))
    symlinkSync(join(scratch, 'real-marker'), join(folder, MARKER))
    assert.match(refusal(folder), /made by another version/)
  })

  it('refuses a lock that is a symbolic link', () => {
    const folder = leftFolder()
    symlinkSync(join(scratch, 'elsewhere'), join(folder, 'bezel-devnet.lock'))
    assert.match(refusal(folder), /is not a plain file/)
    assert.ok(!existsSync(join(scratch, 'elsewhere')))
  })

  it('refuses a path that is a file', () => {
    const file = newPath()
    writeFileSync(file, '')
    assert.throws(() => claimDataFolder(file, () => undefined), /can't be used \(ENOTDIR\): set BEZEL_DATA/)
  })

  it('refuses a folder in use by this process', () => {
    const folder = newPath()
    const { release } = claim(folder)
    assert.match(refusal(folder), new RegExp(`is in use by process ${process.pid}: stop it first or set BEZEL_DATA`))
    release()
    claim(folder).release()
  })

  it('refuses a folder in use by another process, and takes it when that one was killed', async () => {
    const folder = newPath()
    const holder = await claimElsewhere(folder)
    writeFileSync(join(folder, 'chain.json'), '{}')
    assert.match(refusal(folder), new RegExp(`in use by process ${holder.pid}:`))
    assert.ok(existsSync(join(folder, 'chain.json')))
    await holder.end()
    const { lines, release } = claim(folder)
    assert.equal(lines.length, 1)
    release()
  })

  it('wipes nothing under a running service, and takes the folder when that has ended', () => {
    const folder = leftFolder()
    writeFileSync(join(folder, 'bezel-devnet.lock'), '')
    const service = lockFile(join(folder, 'bezel.lock'))
    assert.match(
      refusal(folder),
      /is in use by a service, and a new local chain would wipe it: stop that service first/,
    )
    service!.release()
    assert.equal(claim(folder).lines.length, 1)
  })

  it('keeps the folder and its files to its owner, also one that was open before', () => {
    const folder = leftFolder()
    chmodSync(folder, 0o755)
    claim(folder).release()
    const modes = [folder, ...readdirSync(folder).map((name) => join(folder, name))].map((path) => statSync(path).mode)
    assert.deepEqual(new Set(modes.map((mode) => mode & 0o077)), new Set([0]))
  })

  it('does not take a live process with a re-used id for the owner', () => {
    // The marker names this very process, which is alive but has no claim.
    claim(leftFolder(JSON.stringify({ layout: DATA_LAYOUT_VERSION, pid: process.pid }))).release()
  })

  it('lets exactly one of several starters win', async () => {
    const folder = leftFolder()
    // All starters live until the last one has reported, so that nobody can lawfully inherit from a winner.
    const starters = await Promise.all(Array.from({ length: 4 }, () => claimElsewhere(folder)))
    const outcomes = starters.map(({ outcome }) => outcome).toSorted()
    for (const starter of starters) await starter.end()
    assert.deepEqual(outcomes, ['StartupError', 'StartupError', 'StartupError', 'won'])
  })

  it('keeps the folder when nobody keeps the claim', async () => {
    const folder = newPath()
    const holder = await claimElsewhere(folder, ['--expose-gc'])
    assert.equal(holder.outcome, 'won')
    assert.match(refusal(folder), /is in use by process/)
    await holder.end()
  })

  it('makes folders at any depth, and gives up where none can be made', () => {
    const folder = join(newPath(), 'a', 'b')
    claim(folder).release()
    assert.ok(existsSync(folder))
    // node's recursive mkdir would never return from here.
    if (existsSync('/proc/self')) assert.throws(() => claim('/proc/bezel/data'), StartupError)
  })
})
