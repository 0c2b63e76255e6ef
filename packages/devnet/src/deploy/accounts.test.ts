import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { isSandboxAddress, parseAddress, SANDBOX_ADDRESSES } from '@bezel/protocol'
import { ORACLES, PUBLISHED_ACCOUNTS, TREASURY } from './accounts.ts'

describe('the accounts of the local chain', () => {
  const all = [...PUBLISHED_ACCOUNTS, ...ORACLES, TREASURY]

  it('are those by which every program knows a key that is public', () => {
    assert.deepEqual(Object.fromEntries(all.map(({ name, account }) => [name, account.address])), SANDBOX_ADDRESSES)
    for (const { account } of all) assert.ok(isSandboxAddress(parseAddress(account.address.toLowerCase())!))
    assert.ok(!isSandboxAddress(parseAddress(`0x${'12'.repeat(20)}`)!))
  })
})
