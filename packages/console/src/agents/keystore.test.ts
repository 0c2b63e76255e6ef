import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { decryptKeystoreJson, isKeystoreJson } from 'ethers'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { encryptKeystore, keystoreFileName, passwordProblem } from './keystore.ts'

/** Cheap key derivation, for tests that are about something else. */
const FAST = { rounds: 1_000 }

describe('encryptKeystore', () => {
  it('writes what another wallet can open, whatever the password is made of', async () => {
    for (const password of ['correct horse', 'pässwörd ☃', 'ﬁne①', ' x ']) {
      const key = generatePrivateKey()
      const text = JSON.stringify(await encryptKeystore(key, password, FAST))
      assert.ok(isKeystoreJson(text))
      const opened = await decryptKeystoreJson(text, password)
      assert.equal(opened.privateKey, key)
      assert.equal(opened.address, privateKeyToAccount(key).address)
    }
  })

  it('takes the rounds that keep guessing expensive', async () => {
    const { crypto: parts } = await encryptKeystore(generatePrivateKey(), 'correct horse')
    assert.ok(parts.kdfparams.c >= 600_000 && parts.kdfparams.c <= 10_000_000, 'the bound of what the CLI reads')
    assert.equal(parts.kdfparams.dklen, 32)
  })

  it('can not be opened with another password', async () => {
    const text = JSON.stringify(await encryptKeystore(generatePrivateKey(), 'right one', FAST))
    await assert.rejects(decryptKeystoreJson(text, 'wrong one'), /incorrect password/)
  })

  it('shows nothing of the key, and takes salt and initial vector anew each time', async () => {
    const key = generatePrivateKey()
    const [a, b] = [await encryptKeystore(key, 'same', FAST), await encryptKeystore(key, 'same', FAST)]
    assert.doesNotMatch(JSON.stringify(a), new RegExp(key.slice(2), 'i'))
    assert.notEqual(a.crypto.ciphertext, b.crypto.ciphertext)
    assert.notEqual(a.crypto.cipherparams.iv, b.crypto.cipherparams.iv)
    assert.notEqual(a.id, b.id)
  })

  it('keeps a key that begins with zeros whole', async () => {
    const key = `0x${'00'.repeat(3)}${'7f'.repeat(29)}` as const
    const opened = await decryptKeystoreJson(JSON.stringify(await encryptKeystore(key, 'pw', FAST)), 'pw')
    assert.equal(opened.privateKey, key)
  })
})

it('wants enough characters of a password', () => {
  assert.match(passwordProblem('short') ?? '', /at least 8/)
  assert.equal(passwordProblem('long enough'), null)
})

it('names the file after the address', () => {
  assert.equal(keystoreFileName('0xAb'), '0xAb.json')
})
