import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, beforeEach, describe, it } from 'node:test'
import { EMPTY_BODY_HASH, REQUEST_FIELDS, requestDomain, type Address, type ErrorCode } from '@bezel/protocol'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import type { AgentRecord } from '../../trading/agentRecord.ts'
import { createApiKey, hashApiKey } from '../../agents/apiKey.ts'
import { openRegistry, type Registry } from '../../agents/registry.ts'
import { admitInProcess } from '../../access/admission.ts'
import { createInProcessLimits } from '../../access/inProcessLimits.ts'
import { openNonces, type Nonces } from '../../access/nonces.ts'
import type { Caller } from '../../access/caller.ts'
import { selectEngine } from '../../signatures/engines.ts'
import { CURVE_ORDER } from '../../signatures/testing/hostileSignatures.ts'
import { migrate } from '../../store/openStore.ts'
import { TEST_SCOPE } from '../../store/testing/testScope.ts'
import { openTestStore, type TestStore } from '../../store/testing/testStore.ts'
import { testChain } from '@bezel/testkit/servedChain.ts'
import { type StreamAuth, createStreamAuth } from './streamAuth.ts'

const BASE = testChain('base')

const DOMAIN = requestDomain({ name: 'Test', chainId: BASE.chainId, diamond: BASE.diamond })

const AGENT_LIMIT = 5

const KEY = createApiKey()

const agent = privateKeyToAccount(generatePrivateKey())

const stranger = privateKeyToAccount(generatePrivateKey())

const trader = privateKeyToAccount(generatePrivateKey()).address as Address

interface Signed {
  readonly agent: string
  readonly timestamp: string
  readonly nonce: string
  readonly signature: string
}

type Part = 'operation' | 'method' | 'path' | 'bodyHash' | 'timestamp' | 'nonce' | 'agent'

let lastNonce = 0

/** Signs the struct of the agent, or a changed one. */
async function sign(changes: Partial<Record<Part, string>> = {}, signer = agent): Promise<Signed> {
  const struct = {
    operation: 'wsAuth',
    method: 'WS',
    path: '/v1/base/ws',
    bodyHash: EMPTY_BODY_HASH,
    timestamp: String(nowMs),
    nonce: String((lastNonce += 1)),
    agent: agent.address,
    ...changes,
  }
  const { operation, timestamp, nonce } = struct
  const signature = await signer.signTypedData({
    domain: DOMAIN,
    primaryType: operation,
    types: { [operation]: REQUEST_FIELDS },
    message: { ...struct, timestamp: BigInt(timestamp), nonce: BigInt(nonce) },
  } as never)
  return { agent: struct.agent, timestamp, nonce, signature }
}

let nowMs: number

let opened: TestStore

let registry: Registry

let nonces: Nonces

let auth: StreamAuth

let delegate: Address

let isClockWrong: boolean

const folder = mkdtempSync(join(tmpdir(), 'bezel-auth-'))

/** The two ways to send the same four values. */
const WAYS: Readonly<Record<string, (signed: Signed) => Promise<Caller | undefined>>> = {
  message: (signed) => auth.authenticate(BASE, { op: 'auth', ...signed } as never),
  upgrade: (signed) => auth.authenticateUpgrade(BASE, upgradeWith(headersOf(signed))),
}

function headersOf(signed: Partial<Signed>): Record<string, string> {
  return Object.fromEntries(Object.entries(signed).map(([name, value]) => [`x-service-${name}`, value]))
}

function upgradeWith(headers: Record<string, string>): Pick<IncomingMessage, 'headers' | 'url' | 'method'> {
  return { headers, url: '/v1/base/ws?token=1', method: 'GET' }
}

const refused = (code: ErrorCode) => ({ code })

async function register(changes: Partial<AgentRecord> = {}, scope: Partial<AgentRecord['scope']> = {}): Promise<void> {
  await registry.changeAgent('base', agent.address as Address, () => ({
    chain: 'base',
    agent: agent.address as Address,
    trader,
    name: '',
    mode: 'self',
    agentSigned: true,
    revoked: false,
    standing: 'used',
    createdAtMs: 1,
    signedAtMs: 1,
    ...changes,
    scope: {
      markets: 'all',
      maxLeverage: null,
      dailySpendCapUsd: null,
      expiresAt: null,
      permissions: 'trade',
      ...scope,
    },
  }))
}

describe('the credentials of the stream', () => {
  before(async () => {
    nowMs = 1_700_000_000_000
    opened = openTestStore()
    await migrate(opened.store)
    registry = await openRegistry(opened.store)
    await registry.addKey({
      chain: 'base',
      trader,
      label: '',
      keyHash: hashApiKey(KEY)!,
      createdAtMs: 1,
      signedAtMs: 1,
      network: 'test',
    })
    nonces = await openNonces({ store: opened.store, file: join(folder, 'nonces.log'), now: () => nowMs })
  })
  after(async () => {
    nonces.close()
    await opened.remove()
    rmSync(folder, { recursive: true, force: true })
  })

  beforeEach(async () => {
    delegate = agent.address as Address
    isClockWrong = false
    await register()
    const engine = await selectEngine()
    const limits = createInProcessLimits()
    const isDelegate = async (_of: Address, who: Address): Promise<boolean> => who === delegate
    auth = createStreamAuth({
      agentsOf: () => ({ chain: BASE, registry, delegates: { isDelegate } }) as never,
      now: () => nowMs,
      isClockWrong: () => isClockWrong,
      authenticate: {
        registry,
        engine,
        nonces,
        admission: admitInProcess({ limits, nonces, now: () => nowMs }),
        limits,
        agentLimit: AGENT_LIMIT,
        headerPrefix: 'X-Service-',
        domainOf: () => DOMAIN,
        now: () => nowMs,
      },
    })
  })

  for (const [way, authenticate] of Object.entries(WAYS)) {
    describe(`an agent's signature, by ${way},`, () => {
      it('tells the agent and its trader, in both spellings of v', async () => {
        const caller = await authenticate(await sign())
        assert.equal(caller?.via === 'agent' && caller.agent.agent, agent.address)
        assert.equal(caller?.trader, trader)
        const signed = await sign()
        const v = Number.parseInt(signed.signature.slice(-2), 16) - 27
        const low = { ...signed, signature: `${signed.signature.slice(0, -2)}0${v}`, agent: signed.agent.toLowerCase() }
        assert.equal((await authenticate(low))?.trader, trader)
      })

      it('is not judged by a wrong clock, and is as good as before once it is right', async () => {
        const signed = await sign()
        isClockWrong = true
        await assert.rejects(authenticate(signed), { code: 'NOT_READY', details: { reason: 'clock' } })
        isClockWrong = false
        assert.equal((await authenticate(signed))?.trader, trader)
      })

      it('is over the handshake of this chain and nothing else', async () => {
        const others: Partial<Record<Part, string>>[] = [
          { operation: 'listEvents' },
          { method: 'GET' },
          { path: '/v1/base/ws?token=1' },
          { path: '/v1/arbitrum/ws' },
          { bodyHash: `0x${'00'.repeat(32)}` },
        ]
        for (const changes of others) {
          await assert.rejects(authenticate(await sign(changes)), refused('INVALID_SIGNATURE'), JSON.stringify(changes))
        }
        await assert.rejects(authenticate(await sign({}, stranger)), refused('INVALID_SIGNATURE'))
        const signed = await sign()
        await assert.rejects(authenticate({ ...signed, nonce: '1' }), refused('INVALID_SIGNATURE'))
        await assert.rejects(
          authenticate({ ...signed, signature: highS(signed.signature) }),
          refused('INVALID_SIGNATURE'),
        )
        await authenticate(signed)
      })

      it('is good for 30 s, and once', async () => {
        for (const offMs of [-30_000, 30_000]) {
          await authenticate(await sign({ timestamp: String(nowMs + offMs) }))
          const late = await sign({ timestamp: String(nowMs + offMs + Math.sign(offMs)) })
          await assert.rejects(authenticate(late), refused('TIMESTAMP_OUT_OF_WINDOW'))
        }
        const signed = await sign()
        await authenticate(signed)
        for (const again of Object.values(WAYS)) await assert.rejects(again(signed), refused('NONCE_REUSED'))
      })

      it('counts as one request of the agent, and nothing before it is good does', async () => {
        await assert.rejects(authenticate(await sign({ method: 'GET' })), refused('INVALID_SIGNATURE'))
        for (let at = 0; at < AGENT_LIMIT; at += 1) await authenticate(await sign())
        await assert.rejects(authenticate(await sign()), { code: 'RATE_LIMITED', details: { scope: 'agent' } })
      })

      it('is refused when the agent is unknown, revoked, expired or not delegated', async () => {
        const unknown = await sign({ agent: stranger.address }, stranger)
        await assert.rejects(authenticate(unknown), refused('AGENT_UNKNOWN'))
        await register({ revoked: true })
        await assert.rejects(authenticate(await sign()), refused('AGENT_REVOKED'))
        await register({}, { expiresAt: nowMs })
        await assert.rejects(authenticate(await sign()), refused('AGENT_EXPIRED'))
        await register()
        delegate = trader
        await assert.rejects(authenticate(await sign()), refused('AGENT_NOT_DELEGATED'))
        await register({}, { permissions: 'read' })
        assert.equal((await authenticate(await sign()))?.trader, trader)
      })

      it('is refused with what is wrong when it is malformed', async () => {
        const signed = await sign()
        for (const [name, value] of [
          ['agent', '0x12'],
          ['timestamp', '99999999999999999'],
          ['nonce', '01'],
          ['signature', '0x12'],
        ] as const) {
          await assert.rejects(authenticate({ ...signed, [name]: value }), refused('VALIDATION_ERROR'), name)
        }
      })
    })
  }

  it('say in the text of an error message what is malformed', async () => {
    const signed = { ...(await sign()), timestamp: '99999999999999999' }
    await assert.rejects(WAYS.message!(signed), { message: /timestamp must be epoch milliseconds/ })
  })

  it('may be a key, by message and by header, which counts by itself', async () => {
    const expected: Caller = { via: 'apiKey', trader, keyHash: hashApiKey(KEY)! }
    assert.deepEqual(await auth.authenticate(BASE, { op: 'auth', apiKey: KEY }), expected)
    assert.deepEqual(await auth.authenticateUpgrade(BASE, upgradeWith({ 'x-service-api-key': KEY })), expected)
    for (const key of [createApiKey(), '', 'x'.repeat(128)]) {
      await assert.rejects(auth.authenticate(BASE, { op: 'auth', apiKey: key }), refused('API_KEY_UNKNOWN'))
      const upgrade = upgradeWith({ 'x-service-api-key': key })
      await assert.rejects(auth.authenticateUpgrade(BASE, upgrade), refused('API_KEY_UNKNOWN'))
    }
    await assert.rejects(
      auth.authenticate(testChain('arbitrum'), { op: 'auth', apiKey: KEY }),
      refused('API_KEY_UNKNOWN'),
    )
    for (let at = 2; at < AGENT_LIMIT; at += 1) await auth.authenticate(BASE, { op: 'auth', apiKey: KEY })
    await assert.rejects(auth.authenticate(BASE, { op: 'auth', apiKey: KEY }), refused('RATE_LIMITED'))
    await WAYS.message!(await sign())
  })

  it('act for the trader that a message or an upgrade names, or are refused', async () => {
    const other = stranger.address
    const byMessage = async (named: string): Promise<Caller> =>
      auth.authenticate(BASE, { op: 'auth', ...(await sign()), trader: named } as never)
    const byUpgrade = (named: string): Promise<Caller | undefined> =>
      auth.authenticateUpgrade(BASE, upgradeWith({ 'x-service-api-key': KEY, 'x-service-trader': named }))
    assert.equal((await byMessage(trader.toLowerCase())).trader, trader)
    assert.equal((await byUpgrade(trader))?.trader, trader)
    const mismatch = { code: 'TRADER_MISMATCH', details: { trader, named: other } }
    await assert.rejects(byMessage(other), mismatch)
    await assert.rejects(byUpgrade(other), mismatch)
    await assert.rejects(auth.authenticate(BASE, { op: 'auth', apiKey: KEY, trader: other }), mismatch)
    await assert.rejects(byUpgrade('0x12'), refused('VALIDATION_ERROR'))
    // Checked right after the credential, before its status.
    await register({ revoked: true })
    await assert.rejects(byMessage(other), mismatch)
    await assert.rejects(byMessage(trader), refused('AGENT_REVOKED'))
  })

  it('are in use while their socket is open, and lapse when they are forgotten', async () => {
    await register({ standing: 'seen' }, { permissions: 'read' })
    const caller = (await WAYS.message!(await sign())) as Caller & { readonly via: 'agent' }
    const notes: string[] = []
    const { noteStanding } = registry
    registry.noteStanding = async ({ agent: of }, proof) => void notes.push(`${of} ${proof}`)
    assert.equal(auth.lapseOf(BASE, caller), undefined)
    registry.noteStanding = noteStanding
    assert.deepEqual(notes, [`${agent.address} seen`])
    await opened.store.transaction(TEST_SCOPE, async (sql) => registry.tellGone(sql, [caller.agent]))
    assert.equal(auth.lapseOf(BASE, caller)?.code, 'AGENT_UNKNOWN')
  })

  it('are none, some or all on the upgrade, and a signature decides over a key', async () => {
    assert.equal(await auth.authenticateUpgrade(BASE, upgradeWith({ 'x-other-agent': 'a' })), undefined)
    const signed = headersOf(await sign())
    for (const name of Object.keys(signed)) {
      const some = upgradeWith({ ...signed, [name]: undefined } as never)
      await assert.rejects(auth.authenticateUpgrade(BASE, some), refused('UNAUTHENTICATED'), name)
    }
    const both = { ...signed, 'x-service-api-key': createApiKey() }
    assert.equal((await auth.authenticateUpgrade(BASE, upgradeWith(both)))?.via, 'agent')
    const bad = { ...headersOf(await sign({}, stranger)), 'x-service-api-key': KEY }
    await assert.rejects(auth.authenticateUpgrade(BASE, upgradeWith(bad)), refused('INVALID_SIGNATURE'))
  })
})

/** Returns the other valid signature of the same key over the same digest. */
function highS(signature: string): string {
  const s = CURVE_ORDER - BigInt(`0x${signature.slice(66, 130)}`)
  const v = signature.endsWith('1b') ? '1c' : '1b'
  return `${signature.slice(0, 66)}${s.toString(16).padStart(64, '0')}${v}`
}
