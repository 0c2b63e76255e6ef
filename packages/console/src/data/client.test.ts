import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { activeChain, chainInfo, chooseChain, chooseFirstChain } from './chain.ts'
import { calmSocketClass } from './calmSocket.ts'
import { accountClient, identity, publicClient, refusedKey, traderClient, tradingKey } from './client.ts'
import { keepUnchanged } from './markets.ts'
import { checkSettings, loadSettings } from './settings.ts'
import { HASH, TRADER } from './testing/samples.ts'
import { withTrades } from './useTopic.ts'

const CHAINS = [
  {
    slug: 'arbitrum-sepolia',
    chainId: 421614,
    name: 'Local',
    diamond: TRADER,
    rpcUrl: 'http://127.0.0.1:1',
    explorer: null,
  },
  { slug: 'base', chainId: 8453, name: 'Base', diamond: TRADER, rpcUrl: null, explorer: null },
]

describe('the clients of the page', () => {
  const asked: { readonly url: string; readonly key: string | undefined }[] = []
  const server = createServer((request, response) => {
    const key = request.headers['x-service-api-key']
    asked.push({ url: request.url ?? '', key: typeof key === 'string' ? key : undefined })
    const isGood = key === 'bz_good' || request.url === '/v1/base/markets'
    const body = isGood ? { data: [], balances: [] } : { code: 'API_KEY_UNKNOWN', message: 'No.' }
    response.writeHead(isGood ? 200 : 401, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })
  before(async () => {
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
    const apiBase = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const settings = { apiBase, chains: CHAINS, sandbox: null, version: null }
    await loadSettings(async () => Response.json(settings))
  })
  after(() => {
    server.closeAllConnections()
    server.close()
  })

  it('are of the chain of the address, else of the first', () => {
    chooseFirstChain('')
    assert.equal(activeChain.value, 'arbitrum-sepolia')
    chooseFirstChain('?chain=base')
    assert.deepEqual([activeChain.value, chainInfo.value?.name, publicClient.value.chain], ['base', 'Base', 'base'])
    assert.equal(chooseChain('polygon'), false)
    assert.equal(activeChain.value, 'base')
    // A reload without the query stays there.
    chooseFirstChain('')
    assert.equal(activeChain.value, 'base')
  })

  it('read public data without credentials, and the account with the key', async () => {
    await publicClient.value.markets.list()
    assert.deepEqual(asked.at(-1), { url: '/v1/base/markets', key: undefined })
    assert.equal(accountClient.value, null)
    identity.value = { trader: TRADER, apiKey: 'bz_good' }
    await accountClient.value!.account.get()
    assert.deepEqual(asked.at(-1), { url: `/v1/base/account/${TRADER}`, key: 'bz_good' })
    assert.equal(refusedKey.value, null)
  })

  it('notice a key that was ended, whoever reads', async () => {
    identity.value = { trader: TRADER, apiKey: 'bz_ended' }
    await assert.rejects(accountClient.value!.account.fills(), { code: 'API_KEY_UNKNOWN' })
    assert.equal(refusedKey.value, 'bz_ended')
  })

  it('trade only while a wallet is connected, and read with its own key', async () => {
    assert.throws(() => traderClient(), { code: 'NOT_CONNECTED' })
    const signer = { address: TRADER, signTypedData: async () => HASH } as const
    const sender = { address: TRADER, sendTransaction: async () => HASH } as const
    identity.value = { trader: TRADER, apiKey: 'bz_good' }
    tradingKey.value = { signer, sender, trader: TRADER, isWallet: true }
    await traderClient().account.get()
    assert.equal(asked.at(-1)?.key, 'bz_good')
    assert.equal(traderClient().agentAddress, TRADER)
  })
})

describe('the settings', () => {
  it('without a chain are refused with a sentence', async () => {
    for (const bad of [null, {}, { chains: [] }, { chains: [{ slug: 'moon' }] }]) {
      assert.throws(() => checkSettings(bad), /offers no chain/)
    }
    await assert.rejects(
      loadSettings(async () => new Response('', { status: 503 })),
      /answered 503/,
    )
  })
})

describe('public data', () => {
  const trade = (price: string) => ({ price }) as never
  it('of trades is newest first and bounded', () => {
    const first = withTrades(null, { snapshot: true, data: [trade('2'), trade('1')] })
    const next = withTrades(first, { snapshot: false, data: [trade('3')] })
    assert.deepEqual(
      next.map(({ price }) => price),
      ['3', '2', '1'],
    )
    const many = Array.from({ length: 150 }, (_none, place) => trade(String(place)))
    assert.equal(withTrades(next, { snapshot: false, data: many }).length, 100)
  })

  it('of markets keeps the records that did not change', () => {
    const market = (symbol: string, isOpen: boolean) => ({ symbol, isOpen }) as never
    const old = [market('A/USD', true), market('B/USD', true)]
    assert.equal(keepUnchanged(old, [market('A/USD', true), market('B/USD', true)]), old)
    const next = keepUnchanged(old, [market('A/USD', true), market('B/USD', false)])
    assert.ok(next[0] === old[0] && next[1] !== old[1])
    assert.equal(keepUnchanged(null, old).length, 2)
  })
})

describe('a socket of the page', () => {
  it('that is closed while it connects is closed once it is open, so that the browser reports no error', () => {
    const closed: (number | undefined)[] = []
    const listeners = new Map<string, () => void>()
    const native = {
      readyState: 0,
      send: () => undefined,
      close: (code?: number) => void closed.push(code),
      addEventListener: (type: string, listener: () => void) => void listeners.set(type, listener),
    }
    const Calm = calmSocketClass(function () {
      return native
    } as never)
    const socket = new Calm('ws://127.0.0.1:1')
    socket.close(1_000)
    assert.deepEqual(closed, [])
    native.readyState = 1
    listeners.get('open')!()
    assert.deepEqual(closed, [1_000])
    socket.close()
    assert.deepEqual(closed, [1_000, undefined])
  })
})
