import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { isSandboxAddress, parseAddress, SANDBOX_ADDRESSES } from '@bezel/protocol'
import { loadArtifact } from '@bezel/contracts'
import { createLocalChain } from '../chain/createLocalChain.ts'
import { DEPLOYER, genesisAccounts, MULTICALL3, ORACLES, PUBLISHED_ACCOUNTS, TREASURY } from './accounts.ts'
import { signTransaction } from './createWallet.ts'

describe('the accounts of the local chain', () => {
  const all = [...PUBLISHED_ACCOUNTS, ...ORACLES, TREASURY]

  it('are those by which every program knows a key that is public', () => {
    assert.deepEqual(Object.fromEntries(all.map(({ name, account }) => [name, account.address])), SANDBOX_ADDRESSES)
    for (const { account } of all) assert.ok(isSandboxAddress(parseAddress(account.address.toLowerCase())!))
    assert.ok(!isSandboxAddress(parseAddress(`0x${'12'.repeat(20)}`)!))
  })
})

describe('Multicall3 of the local chain', () => {
  it('has from the start the code that its deployment would give it', async (t) => {
    const chain = await createLocalChain({ slug: 'test', chainId: 421_614, blockMs: 0, accounts: genesisAccounts() })
    t.after(() => chain.stop())
    const { bytecode } = loadArtifact('Multicall3')
    const raw = await signTransaction(chain, DEPLOYER.account, { to: null, data: bytecode, value: 0n, nonce: 0 })
    const hash = await chain.request<string>('eth_sendRawTransaction', [raw])
    await chain.mine()
    const { contractAddress } = await chain.request<{ contractAddress: string }>('eth_getTransactionReceipt', [hash])
    const codes = [MULTICALL3, contractAddress].map((address) => chain.request('eth_getCode', [address, 'latest']))
    const [atStart, deployed] = await Promise.all(codes)
    assert.ok(String(deployed).length > 100)
    assert.equal(atStart, deployed)
  })
})
