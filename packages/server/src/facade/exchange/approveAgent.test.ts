import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { parseAddress, requestDomain, type Address, type ChainSlug, type Hex } from '@bezel/protocol'
import { revocation } from '@bezel/testkit/agentClient.ts'
import { testChain } from '@bezel/testkit/servedChain.ts'
import { privateKeyToAccount } from 'viem/accounts'
import { openRegistry, type Registry } from '../../agents/registry.ts'
import { revokeAgent } from '../../agents/revokeAgent.ts'
import { selectEngine } from '../../signatures/engines.ts'
import type { Envelope } from '../signing/envelope.ts'
import { signUserSigned } from '@bezel/testkit/signEnvelope.ts'
import { openTestFacadeNonces, type TestFacadeNonces } from '../signing/testing/testFacadeNonces.ts'
import { VECTOR_KEY, VECTOR_SIGNER } from '../signing/testing/vectorSigner.ts'
import type { AgentRecord } from '../../trading/agentRecord.ts'
import { approveAgent, type ApproveAgentParts, parseAgentName } from './approveAgent.ts'
import { ExchangeErr } from './errStrings.ts'

const engine = await selectEngine()

const AGENT = parseAddress('0x000000000000000000000000000000000000dead')!

const MASTER = parseAddress(VECTOR_SIGNER)!

const OTHER_KEY = `0x${'7'.repeat(64)}`

const LATE_KEY = `0x${'8'.repeat(64)}`

const RELAYER = parseAddress('0x9999999999999999999999999999999999999999')!

const NOBODY = parseAddress('0x0000000000000000000000000000000000000000')!

describe('approveAgent', () => {
  let test: TestFacadeNonces
  let registry: Registry
  /** The traders whose delegate is the relayer. */
  let delegators: Set<Address>

  const open = async (): Promise<void> => {
    registry = await openRegistry(test.opened.store, { now: () => test.nowMs })
  }

  beforeEach(async () => {
    test = await openTestFacadeNonces()
    delegators = new Set()
    await open()
  })
  afterEach(() => test.remove())

  const known = (trader: Address): Address => (delegators.has(trader) ? RELAYER : NOBODY)
  const parts = (of: Partial<ApproveAgentParts> = {}): ApproveAgentParts => ({
    chain: { slug: 'arbitrum-sepolia' },
    registry,
    delegates: { look: async (trader) => known(trader) },
    relayer: RELAYER,
    store: test.opened.store,
    network: 'test',
    nonces: test.nonces,
    engine,
    sources: ['b', 'a'],
    nowMs: test.nowMs,
    ...of,
  })
  const signed = (of: Record<string, string | number | null> = {}, key = VECTOR_KEY): Envelope =>
    signUserSigned(key, {
      type: 'approveAgent',
      signatureChainId: '0x66eee',
      hyperliquidChain: 'Testnet',
      agentAddress: AGENT.toLowerCase(),
      agentName: 'bot',
      nonce: test.nowMs,
      ...of,
    })
  const approved = async (envelope: Envelope, of?: Partial<ApproveAgentParts>): Promise<AgentRecord> =>
    (await approveAgent(parts(of), envelope))!
  const found = async (agent = AGENT) => registry.findAgent('arbitrum-sepolia', agent)
  const refused = (envelope: Envelope, message: RegExp | string, of?: Partial<ApproveAgentParts>) =>
    assert.rejects(approveAgent(parts(of), envelope), { name: 'ExchangeErr', message })

  it('registers the agent for whom the signature recovers to, relayed and with full trading scope', async () => {
    const expected = {
      chain: 'arbitrum-sepolia',
      agent: AGENT,
      trader: MASTER,
      name: 'bot',
      scope: { markets: 'all', maxLeverage: null, dailySpendCapUsd: null, expiresAt: null, permissions: 'trade' },
      mode: 'relayed',
      agentSigned: false,
      revoked: false,
      standing: 'claimed',
      createdAtMs: test.nowMs,
      signedAtMs: test.nowMs,
    }
    assert.deepEqual(await approved(signed()), expected)
    assert.deepEqual(await found(), expected)
    await open()
    assert.deepEqual(await found(), expected)
  })

  it('takes what is behind valid_until as the expiry of the scope', async () => {
    const untilMs = test.nowMs + 1
    const { name, scope } = await approved(signed({ agentName: `bot valid_until ${untilMs}` }))
    assert.deepEqual([name, scope.expiresAt], ['bot', untilMs])
    await refused(signed({ agentName: `bot valid_until ${test.nowMs}` }), /valid_until must be after server time/)
  })

  it('takes agents without a name', async () => {
    for (const agentName of ['', null]) {
      assert.equal((await approved(signed({ agentName, nonce: ++test.nowMs }))).name, '')
    }
    const { agentName: _, ...unnamed } = signed({ agentName: '', nonce: ++test.nowMs }).action
    const envelope = signUserSigned(VECTOR_KEY, { ...unnamed, type: 'approveAgent' })
    assert.equal((await approved(envelope)).name, '')
  })

  it('replaces what the same trader said before, its mode too, and never by something older', async () => {
    const first = await approved(signed())
    test.nowMs += 5_000
    const second = await approved(signed({ agentName: 'renamed' }))
    assert.deepEqual(second, { ...first, name: 'renamed', signedAtMs: test.nowMs })
    await refused(signed({ nonce: test.nowMs - 1 }), /this timestamp or a later one was already accepted/)
    await registry.changeAgent('arbitrum-sepolia', AGENT, () => ({ ...second, mode: 'self', revoked: true }))
    const third = await approved(signed({ nonce: test.nowMs + 1 }))
    assert.deepEqual([third.mode, third.revoked], ['relayed', false])
  })

  it('takes an envelope once, whichever chain it is sent to', async () => {
    const envelope = signed()
    await approveAgent(parts(), envelope)
    for (const slug of ['arbitrum-sepolia', 'base', 'arbitrum'] satisfies ChainSlug[]) {
      await refused(envelope, /was already used by this signer/, { chain: { slug } })
      assert.equal((await registry.findAgent(slug, AGENT)) === undefined, slug !== 'arbitrum-sepolia')
    }
    await test.restart()
    await open()
    await refused(envelope, /was already used/, { chain: { slug: 'base' } })
  })

  it('never takes the agent of another trader, also not when that one revoked it', async () => {
    const first = await approved(signed())
    const stranger = (): Envelope => signed({ nonce: ++test.nowMs }, OTHER_KEY)
    await refused(stranger(), /^This agent is registered for another trader\./)
    await registry.changeAgent('arbitrum-sepolia', AGENT, () => ({ ...first, revoked: true, standing: 'used' }))
    test.nowMs += 30 * 86_400_000
    await refused(stranger(), /^This agent is registered for another trader\./)
    assert.equal((await found())?.trader, MASTER)
  })

  it('is not locked out by a junk signature: the trader whose delegate is the relayer wins', async () => {
    await approved(signed({}, OTHER_KEY))
    test.nowMs += 1
    await refused(signed(), /Make the relayer your delegate on the chain and approve again/)
    delegators.add(MASTER)
    test.nowMs += 1
    assert.equal((await approved(signed())).trader, MASTER)
    const late = await approved(signed({ agentAddress: `0x${'5'.repeat(40)}`, nonce: ++test.nowMs }, LATE_KEY))
    delegators.add(late.trader)
    await refused(signed({ nonce: ++test.nowMs }, LATE_KEY), /^This agent is registered for another trader\./)
  })

  it('ends the agent of before when its name is approved again, in the same moment', async () => {
    const others = [1, 2, 3].map((digit) => `0x${String(digit).repeat(40)}` as Address)
    const approve = async (agentAddress: Address, agentName: string) =>
      approved(signed({ agentAddress, agentName, nonce: ++test.nowMs }))
    const leaked = await approve(AGENT, 'bot')
    await registry.noteStanding(leaked, 'used')
    await approve(others[0]!, '')
    await approve(others[1]!, 'bot')
    const isRevoked = async () => Promise.all([AGENT, ...others].map(async (agent) => (await found(agent))?.revoked))
    assert.deepEqual(await isRevoked(), [true, false, false, undefined])
    assert.equal(registry.agent('arbitrum-sepolia', AGENT)?.revoked, true, 'also for requests from memory')
    await approve(others[2]!, '')
    assert.deepEqual(await isRevoked(), [true, true, false, false])
  })

  it('ends it also when the name is approved for the wallet itself', async () => {
    await approved(signed())
    await approved(signed({ agentAddress: VECTOR_SIGNER, nonce: ++test.nowMs }))
    assert.deepEqual([(await found())?.revoked, (await found(MASTER))?.revoked], [true, false])
  })

  it('remembers an approval and the end of a name: none of before comes back', async () => {
    const other = `0x${'5'.repeat(40)}` as Address
    const zero = (nonce: number): Envelope => signed({ agentAddress: NOBODY, nonce })
    const held = (nonce: number) =>
      refused(signed({ agentAddress: other, nonce }), /or a later one was already accepted/)
    const startMs = (test.nowMs += 5)
    await approved(signed())
    await approveAgent(parts(), zero(startMs + 1))
    await held(startMs - 1)
    await approved(signed({ nonce: startMs + 3 }))
    await registry.changeAgent('arbitrum-sepolia', AGENT, (stored) => ({ ...stored!, revoked: true }))
    await open()
    await held(startMs + 2)
    await approveAgent(parts(), zero(startMs + 5))
    await held(startMs + 4)
    assert.equal((await approved(signed({ agentAddress: other, nonce: startMs + 6 }))).agent, other)
  })

  it('of a clock that is ahead counts as signed now, so that it is ended at once, and orders approvals all the same', async () => {
    const startMs = test.nowMs
    const aheadMs = startMs + 50_000
    assert.equal((await approved(signed({ nonce: aheadMs }))).signedAtMs, startMs)
    await refused(signed({ nonce: aheadMs - 1 }), /or a later one was already accepted/)
    await refused(signed({ nonce: aheadMs - 2, agentName: 'renamed' }), /or a later one was already accepted/)
    test.nowMs += 1
    assert.equal(await approveAgent(parts(), signed({ agentAddress: NOBODY })), undefined)
    assert.deepEqual([(await found())?.revoked, (await found())?.signedAtMs], [true, startMs + 1])
    await refused(signed({ nonce: aheadMs - 3 }), /or a later one was already accepted/)
    assert.equal((await approved(signed({ nonce: aheadMs + 1 }))).revoked, false)
  })

  it('of a clock that is ahead is revoked natively at once', async () => {
    const chain = testChain('arbitrum-sepolia')
    const domain = requestDomain({ name: 'Test', chainId: chain.chainId, diamond: chain.diamond })
    await approved(signed({ nonce: test.nowMs + 50_000 }))
    test.nowMs += 1
    const body = await revocation(domain, privateKeyToAccount(VECTOR_KEY as Hex), AGENT, test.nowMs)
    const options = {
      engine,
      client: { roundTrips: () => 0, batch: async () => [] },
      windowMs: 30_000,
      nowMs: test.nowMs,
      path: '',
      body: new Uint8Array(),
      chargeContractCall: async () => undefined,
    }
    assert.equal((await revokeAgent({ chain, domain, registry }, AGENT, body, options)).revoked, true)
    await assert.rejects(revokeAgent({ chain, domain, registry }, AGENT, body, options), { code: 'NONCE_REUSED' })
  })

  it('ends nothing for a wallet without agents, which costs no transaction', async () => {
    let transactions = 0
    const { store } = test.opened
    const counted: typeof store = {
      ...store,
      transaction: (scope, work) => ((transactions += 1), store.transaction(scope, work)),
    }
    const nothing = signed({ agentAddress: NOBODY }, OTHER_KEY)
    await refused(nothing, /^User 0x[0-9a-f]{40} has no API Wallets here/, { store: counted })
    await refused(nothing, /was already used/, { store: counted })
    assert.deepEqual([transactions, await test.stored()], [0, 0])
  })

  it('ends it by the zero address, registers nothing, and is content when there is none', async () => {
    await approved(signed())
    const zero = (agentName = 'bot'): Envelope => signed({ agentAddress: NOBODY, agentName, nonce: ++test.nowMs })
    assert.equal(await approveAgent(parts(), zero('other')), undefined)
    assert.equal((await found())?.revoked, false)
    assert.equal(await approveAgent(parts(), zero()), undefined)
    assert.equal((await found())?.revoked, true)
    assert.equal(await found(NOBODY), undefined)
    assert.equal(await approveAgent(parts(), zero()), undefined)
  })

  it('counts a master wallet that names itself as signed by the agent', async () => {
    const { agent, trader, agentSigned } = await approved(signed({ agentAddress: VECTOR_SIGNER }))
    assert.deepEqual([agent, trader, agentSigned], [MASTER, MASTER, true])
  })

  it('refuses the network that is not accepted, and others', async () => {
    await refused(signed({ hyperliquidChain: 'Mainnet' }), 'hyperliquidChain must be Testnet here.', { sources: ['b'] })
    await refused(signed({ hyperliquidChain: 'Devnet' }), 'hyperliquidChain must be Testnet or Mainnet here.')
    await approveAgent(parts(), signed({ hyperliquidChain: 'Mainnet' }))
  })

  it('refuses what is not well formed, or not of now, and uses nothing up', async () => {
    const good = signed()
    const withAction = (of: object): Envelope => ({ ...good, action: { ...good.action, ...of } })
    await refused({ ...good, nonce: good.nonce + 1 }, /must be the same/)
    await refused(withAction({ nonce: String(good.nonce) }), /must be the same/)
    for (const agentAddress of ['0xdead', 1, null, '']) await refused(withAction({ agentAddress }), /agentAddress/)
    for (const agentName of [1, {}, []]) await refused(withAction({ agentName }), /agentName must be a string/)
    await refused(signed({ agentName: 'x'.repeat(33) }), /at most 32 characters/)
    for (const signatureChainId of ['1', 1, null])
      await refused(withAction({ signatureChainId }), /can not be verified/)
    const r = `0x${'0'.repeat(64)}` as Envelope['signature']['r']
    await refused({ ...good, signature: { ...good.signature, r } }, /can not be verified/)
    await refused({ ...good, expiresAfter: test.nowMs - 1 }, /expired/)
    for (const aheadMs of [-60_001, 60_001]) await refused(signed({ nonce: test.nowMs + aheadMs }), /^Invalid nonce/)
    assert.equal(await test.stored(), 0)
    assert.equal((await approved(good)).trader, MASTER)
  })

  it('registers exactly one of many at once', async () => {
    const agents = Array.from({ length: 8 }, (_, i) => `0x${String(i).repeat(40)}` as Address)
    const all = agents.map((agentAddress) => approveAgent(parts(), signed({ agentAddress })))
    const settled = await Promise.allSettled(all)
    assert.equal(settled.filter(({ status }) => status === 'fulfilled').length, 1)
  })
})

describe('parseAgentName', () => {
  it('reads the expiry behind the name', () => {
    const expected: readonly [string, string, number | null][] = [
      ['', '', null],
      ['bot', 'bot', null],
      ['bot valid_until 1767225600000', 'bot', 1_767_225_600_000],
      ['my bot valid_until 1', 'my bot', 1],
      ['valid_until 5', '', 5],
      [' valid_until 5', '', 5],
      ['a valid_until 5 valid_until 6', 'a valid_until 5', 6],
      ['two\nlines valid_until 6', 'two\nlines', 6],
    ]
    for (const [text, name, expiresAt] of expected) assert.deepEqual(parseAgentName(text), { name, expiresAt }, text)
  })

  it('takes what only looks like an expiry as part of the name', () => {
    for (const name of [
      'botvalid_until 5',
      'valid_until',
      'bot valid_until ',
      'bot valid_until x',
      'bot valid_until -5',
      'bot valid_until 5 ',
      'Bot VALID_UNTIL 5',
    ]) {
      assert.deepEqual(parseAgentName(name), { name, expiresAt: null })
    }
  })

  it('refuses names that are too long and times that can not be', () => {
    assert.equal(parseAgentName(`${'x'.repeat(32)} valid_until 5`).name.length, 32)
    assert.throws(() => parseAgentName('x'.repeat(33)), ExchangeErr)
    assert.throws(() => parseAgentName(`${'x'.repeat(33)} valid_until 5`), ExchangeErr)
    for (const digits of ['0', '9007199254740992', '9'.repeat(400)]) {
      assert.throws(() => parseAgentName(`bot valid_until ${digits}`), /valid_until must be a time/)
    }
  })
})
