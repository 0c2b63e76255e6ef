import { StoreUnavailableError } from '../ground/unavailable.ts'
import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { nonceKey, type NonceClaim } from './nonceMemory.ts'
import { readNonceFile, startNonceFile, claimLine, parseNonceLines } from './nonceFile.ts'
import { AGENT, CHAIN } from './testing/testNonces.ts'

const FULL_DISK = '/dev/full'

const claim = (nonce: number): NonceClaim => ({ key: nonceKey(CHAIN, AGENT, `${nonce}`), timestampMs: 1_000 + nonce })

const NOTHING = { claims: [], forgottenUpToMs: -Infinity }

describe('the file of nonces', () => {
  let folder: string
  let path: string

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'bezel-nonces-'))
    path = join(folder, 'nonces.log')
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  it('holds nothing before its first use', () => {
    assert.deepEqual(readNonceFile(path), NOTHING)
  })

  it('keeps two halves, and what was forgotten', () => {
    const file = startNonceFile(path, { claims: [claim(1)], forgottenUpToMs: 5 })
    file.append(claim(2))
    assert.deepEqual(readNonceFile(path), { claims: [claim(1), claim(2)], forgottenUpToMs: 5 })
    file.rotate(7)
    file.append(claim(3))
    assert.deepEqual(readNonceFile(path), { claims: [claim(2), claim(3)], forgottenUpToMs: 7 })
    file.close()
  })

  it('goes on when a rotation before got only half way', () => {
    const file = startNonceFile(path, NOTHING)
    file.append(claim(1))
    rmSync(path)
    file.rotate(1)
    file.append(claim(2))
    assert.deepEqual(readNonceFile(path).claims, [claim(2)])
    file.close()
  })

  it('says when the disk takes no more', { skip: !existsSync(FULL_DISK) }, () => {
    symlinkSync(FULL_DISK, path)
    const file = startNonceFile(path, NOTHING)
    assert.throws(() => file.append(claim(1)), StoreUnavailableError)
    assert.throws(() => file.append(claim(1)), /ENOSPC/)
    file.close()
  })
})

describe('lines of nonces', () => {
  it('are read back as they were written', () => {
    const claims = [claim(0), claim(7), { key: nonceKey('arbitrum', AGENT, '9'.repeat(78)), timestampMs: 0 }]
    assert.deepEqual(parseNonceLines(claims.map(claimLine).join('')), { ...NOTHING, claims })
  })

  it('are skipped when a failed write or a lost page damaged them, at any length', () => {
    const line = claimLine(claim(123))
    for (let cut = 0; cut < line.length; cut++) {
      const torn = line.slice(0, cut)
      assert.deepEqual(parseNonceLines(torn).claims, [])
      assert.deepEqual(parseNonceLines(`${torn}!\n${line}`).claims, [claim(123)])
      assert.deepEqual(parseNonceLines(`${torn}\0\0\0\n${line}${torn}`).claims, [claim(123)])
    }
  })
})
