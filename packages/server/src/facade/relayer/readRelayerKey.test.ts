import assert from 'node:assert/strict'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { StartupError } from '@bezel/protocol'
import { readRelayerKey } from './readRelayerKey.ts'

const KEY = '07'.repeat(32)

describe('the key of the relayer', () => {
  let folder: string

  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'bezel-key-'))
  })
  after(() => rmSync(folder, { recursive: true, force: true }))

  function fileOf(text: string, mode: number): string {
    const path = join(folder, `key-${mode.toString(8)}-${text.length}`)
    writeFileSync(path, text)
    chmodSync(path, mode)
    return path
  }

  async function refusal(of: { hex?: string; file?: string }): Promise<string> {
    try {
      await readRelayerKey({ hex: of.hex, file: of.file })
    } catch (error) {
      assert.ok(error instanceof StartupError)
      return error.message
    }
    return assert.fail('it was taken')
  }

  it('comes from the environment or from a file', async () => {
    const fromHex = await readRelayerKey({ hex: `0x${KEY}`, file: undefined })
    const bare = await readRelayerKey({ hex: KEY.toUpperCase(), file: undefined })
    assert.match(fromHex!.address, /^0x[0-9a-fA-F]{40}$/)
    assert.equal(bare!.address, fromHex!.address)
    for (const mode of [0o600, 0o400]) {
      const fromFile = await readRelayerKey({ hex: undefined, file: fileOf(`0x${KEY}\n`, mode) })
      assert.equal(fromFile!.address, fromHex!.address)
    }
    assert.equal(await readRelayerKey({ hex: undefined, file: undefined }), undefined)
  })

  it('is not taken from a file that others can read', async () => {
    for (const mode of [0o644, 0o640, 0o660, 0o604, 0o777, 0o440, 0o700, 0o500]) {
      assert.match(await refusal({ file: fileOf(KEY, mode) }), /has mode 0\d{3}, .* chmod 600/)
    }
  })

  it('is refused in a sentence without the key', async () => {
    assert.match(await refusal({ hex: KEY, file: '/x' }), /Both/)
    assert.match(await refusal({ file: join(folder, 'none') }), /can't be read \(ENOENT\)/)
    assert.match(await refusal({ file: fileOf(KEY.repeat(5), 0o600) }), /more than a private key/)
    for (const wrong of ['', KEY.slice(1), `${KEY}0`, '00'.repeat(32), 'ff'.repeat(32), `0x${KEY.slice(0, 62)}zz`]) {
      const text = await refusal({ hex: wrong })
      assert.match(text, /64 hexadecimal digits/)
      assert.ok(!text.includes('0707') && !text.includes('ffff'))
    }
  })
})
