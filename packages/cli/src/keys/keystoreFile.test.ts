import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { generatePrivateKey } from 'viem/accounts'
import { KeyError, UsageError } from '../errors/cliError.ts'
import { encryptKeystore } from './keystore.ts'
import { readKeystoreFile, writeKeystoreFile } from './keystoreFile.ts'

describe('keystore files', () => {
  const folder = mkdtempSync(join(tmpdir(), 'bezel-cli-'))
  after(() => rmSync(folder, { recursive: true }))

  it('are for their owner alone, and read again', async () => {
    const path = join(folder, 'new', 'agent.json')
    const keystore = await encryptKeystore(generatePrivateKey(), 'x', { n: 1024 })
    writeKeystoreFile(path, keystore)
    assert.equal(statSync(path).mode & 0o777, 0o600)
    assert.equal(statSync(join(folder, 'new')).mode & 0o777, 0o700)
    assert.deepEqual(readKeystoreFile(path), keystore)
  })

  it('are never written over', async () => {
    const path = join(folder, 'mine.json')
    writeFileSync(path, 'mine')
    const keystore = await encryptKeystore(generatePrivateKey(), 'x', { n: 1024 })
    assert.throws(() => writeKeystoreFile(path, keystore), UsageError)
    assert.equal(readFileSync(path, 'utf8'), 'mine')
  })

  it('say what is wrong when they are not there, or far too large', () => {
    assert.throws(
      () => readKeystoreFile(join(folder, 'none.json')),
      (error) => error instanceof KeyError && /ENOENT/.test(error.message),
    )
    const large = join(folder, 'large.json')
    writeFileSync(large, ' '.repeat(65_537))
    assert.throws(
      () => readKeystoreFile(large),
      (error) => error instanceof KeyError && /too large/.test(error.message),
    )
  })
})
