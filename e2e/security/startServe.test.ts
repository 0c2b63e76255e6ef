import assert from 'node:assert/strict'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { keccak256, stringToHex } from 'viem'
import { openLiveDeployment, type LiveDeployment } from './liveDeployment.ts'

/** Computes a key of the sandbox, as everybody can. */
const sandboxKey = (name: string): string => keccak256(stringToHex(`bezel devnet account ${name}`))

const contentOf = (folder: string): Record<string, string> =>
  Object.fromEntries(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'latin1')]))

describe('serving a live Diamond', () => {
  let live: LiveDeployment

  before(async () => {
    live = await openLiveDeployment()
  })
  after(() => live?.close())

  it('is not what npm start does: it names npm run serve, and starts and writes nothing', async () => {
    const printed = await live.failedStart()
    assert.match(printed, /^npm start runs the sandbox .*chains\.json\): use npm run serve for those, [^\n]+\n$/)
    assert.ok(!existsSync(join(live.folder, 'data')))
  })

  it('runs the service alone, and keeps its data from start to start', async () => {
    const data = join(live.folder, 'kept')
    for (const _ of [1, 2]) {
      const service = await live.serve({ BEZEL_DATA: data })
      assert.equal(service.refusal, undefined)
      await service.end('SIGTERM')
      const names = readdirSync(data)
      assert.ok(names.includes('bezel.db') && !names.some((name) => name.includes('devnet')), names.join())
      if (!names.includes('kept.txt')) writeFileSync(join(data, 'kept.txt'), 'mine')
    }
    assert.equal(readFileSync(join(data, 'kept.txt'), 'utf8'), 'mine')
  })

  it('never loses its data to a sandbox that is started on its folder', async () => {
    const data = join(live.folder, 'kept')
    const content = contentOf(data)
    const printed = await live.failedStart({ BEZEL_DATA: data, BEZEL_CHAINS_FILE: '' })
    assert.match(printed, /holds files that no local chain left there, so nothing was touched/)
    assert.deepEqual(contentOf(data), content)
  })

  it('lives in no home folder, and touches nothing there, but takes a fresh volume and one with its own files', async () => {
    const [home, volume] = [join(live.folder, 'home'), join(live.folder, 'volume')]
    mkdirSync(home, { mode: 0o700 })
    writeFileSync(join(home, '.profile'), 'mine', { mode: 0o644 })
    const { refusal } = await live.serve({ BEZEL_DATA: home })
    assert.match(refusal ?? '', /^The data folder \S+home holds files that are not Bezel's \(\.profile\), [^\n]+\n$/)
    assert.deepEqual(readdirSync(home), ['.profile'])
    assert.equal(statSync(join(home, '.profile')).mode & 0o777, 0o644)
    mkdirSync(join(volume, 'lost+found'), { recursive: true })
    copyFileSync(live.chainsFile, join(volume, 'chains.json'))
    const service = await live.serve({ BEZEL_DATA: volume, BEZEL_CHAINS_FILE: join(volume, 'chains.json') })
    assert.equal(service.refusal, undefined)
    await service.end('SIGTERM')
  })

  it('knows no key, name or folder of the sandbox', async () => {
    for (const name of ['relayer', 'trader-1', 'agent-5', 'deployer', 'oracle-4']) {
      const { refusal } = await live.serve({ BEZEL_RELAYER_KEY: sandboxKey(name) })
      assert.match(refusal ?? '', /^The relayer's key \(0x\w{40}\) is one of the sandbox's, which everybody knows/)
      assert.ok(!refusal!.includes(sandboxKey(name).slice(2)))
    }
    const unnamed = await live.serve({ BEZEL_DOMAIN_NAME: '' })
    assert.match(unnamed.refusal ?? '', /^BEZEL_DOMAIN_NAME is the default and the live Diamond of base is served/)
    const sandbox = join(live.folder, 'sandbox')
    mkdirSync(sandbox)
    writeFileSync(join(sandbox, 'bezel-devnet-marker.json'), '{"layout":1,"pid":1}')
    const { refusal } = await live.serve({ BEZEL_DATA: sandbox })
    assert.match(refusal ?? '', /is the sandbox's, which wipes it at each start/)
    assert.deepEqual(readdirSync(sandbox), ['bezel-devnet-marker.json'])
  })

  it('takes a key of its own from a file of mode 0600 or 0400, and from no other', async () => {
    const file = join(live.folder, 'relayer.key')
    writeFileSync(file, `${keccak256(stringToHex(`a key of ${live.folder}`))}\n`)
    for (const [mode, isTaken] of [
      [0o600, true],
      [0o400, true],
      [0o640, false],
      [0o444, false],
    ] as const) {
      chmodSync(file, mode)
      const service = await live.serve({ BEZEL_RELAYER_KEY_FILE: file })
      assert.equal(service.refusal === undefined, isTaken, `${mode.toString(8)}: ${service.refusal}`)
      if (!isTaken) assert.match(service.refusal!, /has mode 0\d{3}, and others must not read it/)
      await service.end('SIGTERM')
    }
  })

  it('keeps its folder and every file in it to its owner, also those of an earlier version', async () => {
    const data = join(live.folder, 'earlier')
    const others = (path: string): number => statSync(path).mode & 0o077
    const assertPrivate = (): void => {
      assert.equal(others(data), 0)
      assert.deepEqual(
        readdirSync(data).filter((name) => others(join(data, name)) !== 0),
        [],
      )
    }
    const first = await live.serve({ BEZEL_DATA: data })
    assert.ok(readdirSync(data).includes('bezel.db-wal'))
    assertPrivate()
    await first.end('SIGKILL')
    for (const name of readdirSync(data)) chmodSync(join(data, name), 0o644)
    chmodSync(data, 0o755)
    const second = await live.serve({ BEZEL_DATA: data })
    assert.equal(second.refusal, undefined)
    assertPrivate()
    await second.end('SIGTERM')
  })
})

describe('the sandbox', () => {
  it('opens its controls to other machines only when it is told twice', async () => {
    const live = await openLiveDeployment()
    try {
      const printed = await live.failedStart({ BEZEL_CHAINS_FILE: '', HOST: '0.0.0.0' })
      assert.match(
        printed,
        /^HOST is "0\.0\.0\.0", and the local chain would let everybody .* DEVNET_PUBLIC=yes as well/,
      )
      assert.ok(!existsSync(join(live.folder, 'data')))
    } finally {
      await live.close()
    }
  })
})
