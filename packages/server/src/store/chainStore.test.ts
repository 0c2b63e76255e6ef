import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { CHAINS, StartupError } from '@bezel/protocol'
import { refuseOtherDiamond, rememberChain, type ChainIdentity } from './chainStore.ts'
import { migrate } from './openStore.ts'
import { openTestStore, type TestStore } from './testing/testStore.ts'

const BASE: ChainIdentity = {
  chain: 'base',
  chainId: 8453,
  diamond: CHAINS.base.liveDiamond,
  genesisHash: `0x${'a'.repeat(64)}`,
}

describe('rememberChain', () => {
  let test: TestStore
  beforeEach(async () => {
    test = openTestStore()
    await migrate(test.store)
  })
  afterEach(() => test.remove())

  it('takes the first chain it sees, and the same one ever after', async () => {
    await refuseOtherDiamond(test.store, BASE)
    await rememberChain(test.store, BASE)
    await test.reopen()
    await rememberChain(test.store, BASE)
    await refuseOtherDiamond(test.store, BASE)
  })

  it('refuses another first block, Diamond or id in one sentence', async () => {
    await rememberChain(test.store, BASE)
    const others: [Partial<ChainIdentity>, RegExp][] = [
      [{ genesisHash: `0x${'b'.repeat(64)}` }, /its first block is 0xaa+, not 0xbb+/],
      [{ diamond: CHAINS.polygon.liveDiamond }, /its Diamond is 0x6cD5.*, not 0x209A/],
      [{ chainId: 1 }, /its chain id is 8453, not 1/],
    ]
    for (const [other, difference] of others) {
      const refused = rememberChain(test.store, { ...BASE, ...other })
      await assert.rejects(refused, (error: Error) => {
        assert.ok(error instanceof StartupError)
        assert.match(error.message, difference)
        assert.match(error.message, /^The data is of another base: .*\. Set BEZEL_DATA to another folder, or .*\.$/)
        return true
      })
    }
    await rememberChain(test.store, BASE)
  })

  it('refuses another Diamond without having asked a node', async () => {
    await rememberChain(test.store, BASE)
    const other = { ...BASE, diamond: CHAINS.polygon.liveDiamond }
    await assert.rejects(refuseOtherDiamond(test.store, other), StartupError)
  })

  it('keeps chains apart', async () => {
    await rememberChain(test.store, BASE)
    await rememberChain(test.store, { ...BASE, chain: 'polygon', chainId: 137, genesisHash: `0x${'c'.repeat(64)}` })
  })
})
