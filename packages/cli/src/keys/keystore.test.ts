import assert from 'node:assert/strict'
import { describe, it, after } from 'node:test'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { decryptKeystoreJson, encryptKeystoreJson } from 'ethers'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { KeyError, UsageError } from '../errors/cliError.ts'
import {
  decryptKeystore,
  deriveKey,
  type Keystore,
  encryptKeystore,
  parseKeystore,
  readKeystoreFile,
  writeKeystoreFile,
} from './keystore.ts'

/**
 * The vector of the format's own definition. Its other vector has scrypt parameters outside RFC 7914, which node
 * refuses.
 */
const PASSWORD = 'testpassword'

const SECRET = '0x7a28b5ba57c53603b0b07b56bba752f7784bf506fa95edc395f5cf6c7514fe9d'

const PBKDF2 = {
  crypto: {
    cipher: 'aes-128-ctr',
    cipherparams: { iv: '6087dab2f9fdbbfaddc31a909735c1e6' },
    ciphertext: '5318b4d5bcd28de64ee5559e671353e16f075ecae9f99c7a79a38af5f869aa46',
    kdf: 'pbkdf2',
    kdfparams: {
      c: 262_144,
      dklen: 32,
      prf: 'hmac-sha256',
      salt: 'ae3cd4e7013836a3df6bd7241b12db061dbe2c6785853cce422d148a624ce0bd',
    },
    mac: '517ead924a9d0dc3124507e3393d175ce3ff7c1e96529c6c555ce9e51205e9b2',
  },
  id: '3198bc9c-6672-5ab3-d995-4942343ae5b6',
  version: 3,
}

/** Cheap key derivation, for tests that are about something else. */
const FAST = { n: 1024 }

const parsed = (file: object): Keystore => parseKeystore(JSON.stringify(file), 'key.json')

describe('decryptKeystore', () => {
  it('opens the known vector', async () => {
    assert.equal(await decryptKeystore(parsed(PBKDF2), PASSWORD), SECRET)
  })

  it('opens what another wallet has written', async () => {
    const key = generatePrivateKey()
    const account = { address: privateKeyToAccount(key).address, privateKey: key }
    const text = await encryptKeystoreJson(account, 'pässword', { scrypt: { N: 2 ** 17, r: 8, p: 1 } })
    assert.equal(await decryptKeystore(parseKeystore(text, 'key.json'), 'pässword'), key)
  })

  it('takes capital letters of old wallets', async () => {
    assert.equal(await decryptKeystore(parsed({ version: 3, Crypto: PBKDF2.crypto }), PASSWORD), SECRET)
  })

  it('refuses another password and a changed file', async () => {
    const key = generatePrivateKey()
    const file = await encryptKeystore(key, 'right', FAST)
    await assert.rejects(
      decryptKeystore(file, 'wrong'),
      (error) => error instanceof KeyError && /password/.test(error.message),
    )
    const changed = { ...file, crypto: { ...file.crypto, ciphertext: `00${file.crypto.ciphertext.slice(2)}` } }
    await assert.rejects(decryptKeystore(changed, 'right'), KeyError)
  })
})

describe('encryptKeystore', () => {
  it('writes what it reads again, with any password', async () => {
    for (const password of ['x', 'two words', 'pässwörd ☃']) {
      const key = generatePrivateKey()
      const file = parsed(await encryptKeystore(key, password, FAST))
      assert.equal(await decryptKeystore(file, password), key)
      assert.doesNotMatch(JSON.stringify(file), new RegExp(key.slice(2), 'i'))
    }
  })

  it('writes what another wallet can open', async () => {
    const key = generatePrivateKey()
    const file = await encryptKeystore(key, 'pässword', FAST)
    const opened = await decryptKeystoreJson(JSON.stringify(file), 'pässword')
    assert.equal(opened.privateKey, key)
    assert.equal(opened.address, privateKeyToAccount(key).address)
  })

  it('takes salt and initial vector anew each time', async () => {
    const key = generatePrivateKey()
    const [a, b] = [await encryptKeystore(key, 'x', FAST), await encryptKeystore(key, 'x', FAST)]
    assert.notEqual(a.crypto.ciphertext, b.crypto.ciphertext)
    assert.notEqual(a.crypto.cipherparams.iv, b.crypto.cipherparams.iv)
  })
})

describe('deriveKey', () => {
  it('refuses terms that would hold up the machine or mean something else', () => {
    const salt = 'ab'.repeat(32)
    const scrypt = { dklen: 32, n: 1024, r: 8, p: 1, salt }
    const bad = [
      { n: 2 ** 21 },
      { n: 1000 },
      { n: 0 },
      { r: 0 },
      { n: 2 ** 16, r: 1 },
      { p: 17 },
      { p: 0.5 },
      { dklen: 16 },
    ]
    for (const change of bad) {
      assert.throws(
        () => deriveKey('x', { kdf: 'scrypt', kdfparams: { ...scrypt, ...change } }),
        KeyError,
        JSON.stringify(change),
      )
    }
    for (const c of [0, 1.5, 10_000_001]) {
      assert.throws(
        () => deriveKey('x', { kdf: 'pbkdf2', kdfparams: { dklen: 32, c, prf: 'hmac-sha256', salt } }),
        KeyError,
      )
    }
  })
})

describe('parseKeystore', () => {
  it('refuses what is none, without repeating it', () => {
    const { crypto } = PBKDF2
    const bad = [
      '',
      'null',
      '[]',
      '0x' + 'ab'.repeat(32),
      JSON.stringify({ ...PBKDF2, version: 1 }),
      JSON.stringify({ ...PBKDF2, crypto: { ...crypto, cipher: 'aes-256-cbc' } }),
      JSON.stringify({ ...PBKDF2, crypto: { ...crypto, kdf: 'argon' } }),
      JSON.stringify({ ...PBKDF2, crypto: { ...crypto, ciphertext: 'abcd' } }),
      JSON.stringify({ ...PBKDF2, crypto: { ...crypto, mac: 7 } }),
    ]
    for (const text of bad) {
      assert.throws(
        () => parseKeystore(text, 'key.json'),
        (error) =>
          error instanceof KeyError &&
          error.message.startsWith('key.json is no keystore') &&
          !error.message.includes('abab'),
      )
    }
  })
})

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
