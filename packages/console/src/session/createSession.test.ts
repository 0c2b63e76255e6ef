import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { signal } from '@preact/signals'
import { CHAINS, createBezelClient } from '@bezel/sdk'
import type { ConsoleChain } from '../data/settings.ts'
import { createMemoryStore } from '../data/storage.ts'
import { createSession, type Session, type SessionState } from './createSession.ts'
import { createKeyRing, type KeyRing } from './keyRing.ts'
import { createProviderSigner } from './providerSigner.ts'
import { createFakeWallet, refusal, type FakeWallet } from './testing/fakeWallet.ts'
import { startStandInService, type StandInService } from './testing/standInService.ts'

const { chainId, liveDiamond } = CHAINS['arbitrum-sepolia']
const SEPOLIA: ConsoleChain = {
  slug: 'arbitrum-sepolia',
  chainId,
  name: 'Local',
  diamond: liveDiamond,
  rpcUrl: 'http://127.0.0.1:8545',
  explorer: null,
}

type Connected = Extract<SessionState, { readonly kind: 'connected' }>

describe('the session', () => {
  let service: StandInService
  before(async () => {
    service = await startStandInService()
  })
  after(() => service.close())
  beforeEach(() => {
    service.labels.clear()
    service.asked.length = 0
  })

  /** Opens a tab; with the storage of an earlier one it is that tab after a reload. */
  function openTab(tab = createMemoryStore(), browser = createMemoryStore()) {
    const clock = { aheadMs: 0 }
    const now = (): number => Date.now() + clock.aheadMs
    const chain = signal<ConsoleChain | null>(SEPOLIA)
    const told: string[] = []
    const keys: KeyRing = createKeyRing({
      tab,
      browser,
      channel: { post: () => undefined, listen: () => undefined },
      randomHex: () => '0a0b0c',
      onEndedElsewhere: () => session.keyEndedElsewhere(),
      borrowMs: 1,
    })
    const client = createBezelClient({ baseUrl: service.url, chain: 'arbitrum-sepolia', now })
    const session: Session = createSession({
      tab,
      keys,
      chain,
      signerOf: ({ provider }, address) =>
        createProviderSigner(provider, address, { chainId: () => chain.peek()?.chainId, now }),
      issueKey: async (trader, label) => (await client.agents.issueApiKey({ trader, label })).apiKey,
      endKey: (trader, { label }) => client.agents.revokeApiKey({ trader, label }),
      tell: ({ title, body }) => told.push(`${title} ${body}`),
    })
    return { session, keys, tab, browser, chain, told, clock }
  }
  const stateOf = (session: Session): Connected => {
    const state = session.session.value
    assert.equal(state.kind, 'connected')
    return state as Connected
  }
  async function signedIn(wallet: FakeWallet = createFakeWallet(chainId)) {
    const opened = openTab()
    await opened.session.connect(wallet.option)
    assert.equal(await opened.session.signIn(), true)
    return { ...opened, wallet }
  }

  it('costs one question to connect and one signature to sign in', async () => {
    const { session, wallet } = await signedIn()
    assert.deepEqual(wallet.prompts, ['eth_requestAccounts', 'eth_signTypedData_v4'])
    const { address, isSignedIn, isRightChain } = stateOf(session)
    assert.deepEqual([address, isSignedIn, isRightChain], [wallet.address, true, true])
    assert.deepEqual([...service.labels], ['console-0a0b0c'])
    assert.match(session.apiKey.value!, /^bz_/)
    assert.equal(await session.signIn(), true)
    assert.equal(wallet.prompts.length, 2)
  })

  it('asks once, however often one clicks', async () => {
    const { session } = openTab()
    const wallet = createFakeWallet(chainId)
    await session.connect(wallet.option)
    await Promise.all([session.signIn(), session.signIn(), session.signIn()])
    assert.equal(wallet.prompts.filter((method) => method === 'eth_signTypedData_v4').length, 1)
  })

  it('survives a reload without a question, also when the wallet announces itself late', async () => {
    const { tab, browser, wallet } = await signedIn(createFakeWallet(chainId))
    wallet.prompts.length = 0
    const { session } = openTab(tab, browser)
    assert.deepEqual(session.session.value, { kind: 'connecting', walletName: 'Test' })
    await session.restore([])
    session.stopWaiting()
    assert.equal(session.session.value.kind, 'none')
    await session.restore([createFakeWallet(1, { id: 'org.other' }).option, wallet.option])
    assert.equal(stateOf(session).isSignedIn, true)
    assert.deepEqual(wallet.prompts, [])
  })

  it('is over after a reload when the wallet does not know the page any more', async () => {
    const { tab } = await signedIn()
    const { session } = openTab(tab)
    await session.restore([createFakeWallet(chainId).option])
    assert.equal(session.session.value.kind, 'none')
    assert.equal(session.problem.value, null)
  })

  it('says that the user refused, and can be tried again', async () => {
    const { session } = openTab()
    const wallet = createFakeWallet(chainId)
    wallet.answer('eth_requestAccounts', () => {
      throw refusal()
    })
    await session.connect(wallet.option)
    assert.deepEqual([session.session.value.kind, session.problem.value?.isRefusedByUser], ['none', true])
    const second = createFakeWallet(chainId)
    await session.connect(second.option)
    assert.equal(session.problem.peek(), null)
    second.answer('eth_signTypedData_v4', () => {
      throw refusal()
    })
    assert.equal(await session.signIn(), false)
    assert.deepEqual([stateOf(session).isSignedIn, session.problem.value?.isRefusedByUser], [false, true])
  })

  it('takes the wallet that was chosen last, when the first one answers late', async () => {
    const { session } = openTab()
    const [slow, fast] = [createFakeWallet(chainId, { id: 'org.slow' }), createFakeWallet(chainId, { id: 'org.fast' })]
    const held = Promise.withResolvers<unknown>()
    slow.answer('eth_requestAccounts', () => held.promise)
    const first = session.connect(slow.option)
    await session.connect(fast.option)
    held.resolve([slow.address])
    await first
    assert.equal(stateOf(session).wallet.id, 'org.fast')
  })

  it('follows the account of the wallet, and each account has its own key', async () => {
    const { session, wallet, told } = await signedIn()
    const first = session.apiKey.value
    const earlier = session.epoch.value
    wallet.switchAccount(1)
    assert.deepEqual([stateOf(session).address, stateOf(session).isSignedIn], [wallet.address, false])
    assert.equal(session.epoch.value, earlier + 1)
    assert.match(told[0]!, /account was switched/i)
    wallet.switchAccount(0)
    assert.equal(session.apiKey.value, first)
  })

  it('does not keep the key of an account that was switched while it was signed', async () => {
    const { session, keys } = openTab()
    const wallet = createFakeWallet(chainId)
    await session.connect(wallet.option)
    const owner = wallet.address
    const held = Promise.withResolvers<void>()
    wallet.answer('eth_signTypedData_v4', async () => {
      await held.promise
      return `0x${'00'.repeat(65)}`
    })
    const signing = session.signIn()
    await new Promise((resolve) => setTimeout(resolve, 20))
    wallet.switchAccount(1)
    held.resolve()
    assert.equal(await signing, false)
    assert.equal(keys.keyOf({ chain: SEPOLIA.slug, trader: owner }), null)
    assert.equal(stateOf(session).isSignedIn, false)
  })

  it('uses no signature that comes too late for the service, says so, and can be tried again', async () => {
    const { session, clock } = openTab()
    const wallet = createFakeWallet(chainId)
    await session.connect(wallet.option)
    wallet.answer('eth_signTypedData_v4', () => {
      clock.aheadMs += 31_000
      return `0x${'00'.repeat(65)}`
    })
    assert.equal(await session.signIn(), false)
    assert.deepEqual([session.problem.value?.code, stateOf(session).isSignedIn], ['SIGNED_TOO_LATE', false])
    assert.ok(!service.asked.some((asked) => asked.startsWith('POST')))
    wallet.answer('eth_signTypedData_v4', undefined)
    assert.equal(await session.signIn(), true)
  })

  it('waits while the wallet is locked, and goes on as before', async () => {
    const { session, wallet } = await signedIn()
    wallet.lock()
    assert.equal(session.session.value.kind, 'none')
    wallet.unlock()
    assert.equal(stateOf(session).isSignedIn, true)
  })

  it('notices another network, and asks the wallet to switch before it signs', async () => {
    const { session } = openTab()
    const wallet = createFakeWallet(1)
    await session.connect(wallet.option)
    assert.equal(stateOf(session).isRightChain, false)
    assert.equal(await session.signIn(), true)
    assert.deepEqual(wallet.prompts.slice(1), ['wallet_switchEthereumChain', 'eth_signTypedData_v4'])
    assert.equal(stateOf(session).isRightChain, true)
    wallet.switchChain(1)
    assert.equal(stateOf(session).isRightChain, false)
    wallet.answer('wallet_switchEthereumChain', () => {
      throw refusal()
    })
    assert.equal(await session.switchChain(), false)
    assert.equal(session.problem.value?.isRefusedByUser, true)
  })

  it('adds a chain that the wallet does not know', async () => {
    const { session } = openTab()
    const wallet = createFakeWallet(1)
    await session.connect(wallet.option)
    wallet.answer('wallet_switchEthereumChain', () => {
      throw refusal(4902)
    })
    wallet.answer('wallet_addEthereumChain', () => {
      wallet.switchChain(chainId)
      return null
    })
    assert.equal(await session.switchChain(), true)
    assert.equal(stateOf(session).isRightChain, true)
  })

  it('ends its key when it is disconnected, and forgets the wallet', async () => {
    const { session, wallet, tab } = await signedIn()
    await session.disconnect()
    assert.equal(session.session.value.kind, 'none')
    assert.equal(session.apiKey.value, null)
    assert.deepEqual([...service.labels], [])
    const { session: later } = openTab(tab)
    await later.restore([wallet.option])
    assert.equal(later.session.value.kind, 'none')
    wallet.switchAccount(1)
    assert.equal(session.session.value.kind, 'none')
  })

  it('is over although the end of the key was not signed, and says where the key is', async () => {
    const { session, wallet, told } = await signedIn()
    wallet.answer('eth_signTypedData_v4', () => {
      throw refusal()
    })
    await session.disconnect()
    assert.equal(session.session.value.kind, 'none')
    assert.match(told[0]!, /You did not sign its end\. .*Agents > Keys as console-0a0b0c/)
    assert.deepEqual([...service.labels], ['console-0a0b0c'])
  })

  it('asks to sign in again when the service refuses the key', async () => {
    const { session } = await signedIn()
    session.keyRefused('another')
    assert.equal(stateOf(session).isSignedIn, true)
    session.keyRefused(session.apiKey.value!)
    assert.deepEqual([stateOf(session).isSignedIn, session.apiKey.value], [false, null])
    assert.match(stateOf(session).signedOutBecause!, /Sign in again/)
    assert.equal(await session.signIn(), true)
    assert.equal(stateOf(session).signedOutBecause, null)
  })

  it('gives up what is under way when another chain is chosen', async () => {
    const { session, chain } = await signedIn()
    const earlier = session.epoch.value
    chain.value = { ...SEPOLIA, slug: 'base', chainId: 8453 }
    session.chainChosen()
    assert.deepEqual(
      [session.epoch.value, stateOf(session).isSignedIn, stateOf(session).isRightChain],
      [earlier + 1, false, false],
    )
  })
})
