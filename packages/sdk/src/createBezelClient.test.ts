import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { CHAINS } from '@bezel/protocol/wire'
import { createBezelClient, type BezelClient } from './createBezelClient.ts'
import { CHAIN_ID, TRADER } from './testing/sampleFacts.ts'

const chain = 'arbitrum-sepolia'

const LOCAL = `0x${'d1'.repeat(20)}` as const

/** The answer of a service about its local chain, as far as the client looks at it. */
const INFO = {
  chainId: CHAIN_ID,
  diamond: LOCAL,
  signing: { domain: { name: 'Test', version: '1', chainId: CHAIN_ID, verifyingContract: LOCAL } },
}

describe('a client', () => {
  it('takes the address of the service, and says which part of a longer one to leave away', () => {
    const at = (baseUrl: string): BezelClient => createBezelClient({ baseUrl, chain })
    for (const good of ['https://host', 'https://v1', 'http://hl:8080', 'https://host/proxy', 'https://host/v12']) {
      assert.equal(at(`${good}/`).baseUrl, good)
    }
    const cut: Readonly<Record<string, string>> = {
      'https://host/v1': 'https://host',
      'https://host/v1/': 'https://host',
      'https://host/proxy/v1/base': 'https://host/proxy',
      'http://127.0.0.1:8080/hl/base': 'http://127.0.0.1:8080',
    }
    for (const [long, short] of Object.entries(cut)) {
      assert.throws(() => at(long), { code: 'BAD_BASE_URL', message: new RegExp(`Give it "${short}"\\.$`) }, long)
    }
    for (const bad of ['', 'host', 'host:8080', 'ws://host']) {
      assert.throws(() => at(bad), { code: 'BAD_BASE_URL' }, bad)
    }
  })

  it('says where the Diamond of a local chain is when none was named, and warns of another one', async () => {
    const fetch = async (): Promise<Response> => Response.json(INFO)
    const of = { baseUrl: 'https://host', chain, fetch } as const
    const expected = CHAINS[chain].liveDiamond
    await assert.rejects(createBezelClient(of).signingDomain(), {
      name: 'WrongDiamondError',
      expected,
      found: LOCAL,
      message: /names none, .* give the client \{ diamond \}: var\/devnet\.json has it as chains\["arbitrum-sepolia"\]/,
    })
    await assert.rejects(createBezelClient({ ...of, diamond: TRADER }).signingDomain(), {
      name: 'WrongDiamondError',
      message: new RegExp(`but ${TRADER} is the one that you named\\. Do not trade`),
    })
    assert.equal((await createBezelClient({ ...of, diamond: LOCAL }).signingDomain()).name, 'Test')
  })

  it('lets nobody but the trader approve for it, and asks nobody before', async () => {
    const fetch = (): never => assert.fail('the service was asked')
    const sender = { address: LOCAL, sendTransaction: () => assert.fail('it was sent'), call: () => assert.fail() }
    const client = createBezelClient({ baseUrl: 'https://host', chain, fetch, trader: TRADER })
    const approval = { sender, collateral: 'USDC', amount: '1' } as const
    await assert.rejects(client.account.approve(approval), { name: 'BezelConfigError', code: 'WRONG_SENDER' })
  })
})
