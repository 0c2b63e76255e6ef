import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { parseAddress, type Address, type ChainSlug } from '@bezel/protocol'
import { openRegistry, type Registry } from '../../agents/registry.ts'
import { selectEngine } from '../../signatures/engines.ts'
import type { Envelope } from '../signing/envelope.ts'
import { signUserSigned } from '@bezel/testkit/signEnvelope.ts'
import { openTestFacadeNonces, type TestFacadeNonces } from '../signing/testing/testFacadeNonces.ts'
import { VECTOR_KEY, VECTOR_SIGNER } from '../signing/testing/vectorSigner.ts'
import { approveAgent, type ApproveAgentParts, parseAgentName } from './approveAgent.ts'
import { ExchangeErr } from './errStrings.ts'

const engine = await selectEngine()

const AGENT = parseAddress('0x000000000000000000000000000000000000dead')!

const MASTER = parseAddress(VECTOR_SIGNER)!

const OTHER_KEY = `0x${'7'.repeat(64)}`

describe('approveAgent', () => {
  let test: TestFacadeNonces
  let registry: Registry

  beforeEach(async () => {
    test = await openTestFacadeNonces()
    registry = await openRegistry(test.opened.store)
  })
  afterEach(() => test.remove())

  const parts = (of: Partial<ApproveAgentParts> = {}): ApproveAgentParts => ({
    chain: { slug: 'arbitrum-sepolia' },
    registry,
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
      createdAtMs: test.nowMs,
      signedAtMs: test.nowMs,
    }
    assert.deepEqual(await approveAgent(parts(), signed()), expected)
    assert.deepEqual(registry.agent('arbitrum-sepolia', AGENT), expected)
    assert.deepEqual((await openRegistry(test.opened.store)).agent('arbitrum-sepolia', AGENT), expected)
  })

  it('takes what is behind valid_until as the expiry of the scope', async () => {
    const { name, scope } = await approveAgent(parts(), signed({ agentName: 'bot valid_until 1767225600000' }))
    assert.deepEqual([name, scope.expiresAt], ['bot', 1_767_225_600_000])
  })

  it('takes agents without a name', async () => {
    for (const agentName of ['', null]) {
      assert.equal((await approveAgent(parts(), signed({ agentName, nonce: ++test.nowMs }))).name, '')
    }
    const { agentName: _, ...unnamed } = signed({ agentName: '', nonce: ++test.nowMs }).action
    const envelope = signUserSigned(VECTOR_KEY, { ...unnamed, type: 'approveAgent' })
    assert.equal((await approveAgent(parts(), envelope)).name, '')
  })

  it('replaces what the same trader said before, its mode too, and never by something older', async () => {
    const first = await approveAgent(parts(), signed())
    test.nowMs += 5_000
    const second = await approveAgent(parts(), signed({ agentName: 'renamed' }))
    assert.deepEqual(second, { ...first, name: 'renamed', signedAtMs: test.nowMs })
    await refused(signed({ nonce: test.nowMs - 1 }), /this timestamp or a later one was already accepted/)
    await registry.changeAgent('arbitrum-sepolia', AGENT, () => ({ ...second, mode: 'self', revoked: true }))
    const third = await approveAgent(parts(), signed({ nonce: test.nowMs + 1 }))
    assert.deepEqual([third.mode, third.revoked], ['relayed', false])
  })

  it('takes an envelope once, whichever chain it is sent to', async () => {
    const envelope = signed()
    await approveAgent(parts(), envelope)
    for (const slug of ['arbitrum-sepolia', 'base', 'arbitrum'] satisfies ChainSlug[]) {
      await refused(envelope, /was already used by this signer/, { chain: { slug } })
      assert.equal(registry.agent(slug, AGENT) === undefined, slug !== 'arbitrum-sepolia')
    }
    await test.restart()
    registry = await openRegistry(test.opened.store)
    await refused(envelope, /was already used/, { chain: { slug: 'base' } })
  })

  it('never takes the agent of another trader, unless that one revoked it', async () => {
    const first = await approveAgent(parts(), signed())
    const stranger = (): Envelope => signed({ nonce: ++test.nowMs }, OTHER_KEY)
    await refused(stranger(), /^This agent is registered for another trader\./)
    assert.deepEqual(registry.agent('arbitrum-sepolia', AGENT), first)
    await registry.changeAgent('arbitrum-sepolia', AGENT, () => ({ ...first, revoked: true }))
    const { trader } = await approveAgent(parts(), stranger())
    assert.notEqual(trader, MASTER)
  })

  it('counts a master wallet that names itself as signed by the agent', async () => {
    const { agent, trader, agentSigned } = await approveAgent(parts(), signed({ agentAddress: VECTOR_SIGNER }))
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
    assert.equal((await approveAgent(parts(), good)).trader, MASTER)
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
