import { EVERYBODY, type Notice, saveNotice, takeNoticeIds } from '../../../store/noticeStore.ts'
import { StoreUnavailableError } from '../../../ground/unavailable.ts'
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { ownDetails } from '@bezel/testkit/ownDetails.ts'
import {
  NotificationErrorSchema,
  NotificationListSchema,
  parseAddress,
  REQUEST_FIELDS,
  type Address,
  type ChainSlug,
} from '@bezel/protocol'
import { Value } from '@sinclair/typebox/value'
import type { FastifyInstance } from 'fastify'
import { saveApiKey } from '../../../store/apiKeyStore.ts'
import { keccak256, stringToBytes } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { createApiKey, hashApiKey } from '../../../agents/apiKey.ts'
import { admitInProcess } from '../../../access/admission.ts'
import { createInProcessLimits } from '../../../access/inProcessLimits.ts'
import { openNonces, type Nonces } from '../../../access/nonces.ts'
import { openNoticesWorld, type NoticesWorld } from '../../../notices/testing/noticesWorld.ts'
import type { Repetition } from '../../../ground/every.ts'
import { createNotices, startNoticeRounds, type Notices } from '../../../notices/startNotices.ts'
import { selectEngine } from '../../../signatures/engines.ts'
import { createApp } from '../../createApp.ts'
import { registerHooks } from '../../hooks/registerHooks.ts'
import { registerRoute } from '../../hooks/registerRoute.ts'
import { dismissNotificationRoute } from './dismissNotification.ts'
import { listNotificationsRoute } from './listNotifications.ts'
import { TEST_SCOPE } from '../../../store/testing/testScope.ts'

const engine = await selectEngine()
const ALICE = parseAddress(`0x${'a1'.repeat(20)}`)!
const BOB = parseAddress(`0x${'b2'.repeat(20)}`)!
const account = privateKeyToAccount(generatePrivateKey())
const stranger = privateKeyToAccount(generatePrivateKey())
const AGENT = account.address as Address
const DISMISS = `/api/notifications/${ALICE}/dismiss`

interface Signed {
  readonly chain?: ChainSlug
  readonly by?: typeof account
  readonly operation?: string
  readonly path?: string
  readonly nonce?: string
  readonly timestamp?: string
  readonly body: string
}

describe('notifications over HTTP', () => {
  let world: NoticesWorld
  let notices: Notices
  let rounds: Repetition
  let nonces: Nonces
  let folder: string
  let app: FastifyInstance
  let fault: Error | undefined
  let ipLimit: number
  let agentLimit: number
  const keys = new Map<Address, string>()
  let lastNonce = 0

  beforeEach(async () => {
    ;[fault, ipLimit, agentLimit] = [undefined, 1_000, 1_000]
    world = await openNoticesWorld(['base', 'arbitrum'])
    folder = mkdtempSync(join(tmpdir(), 'bezel-notices-'))
    const now = (): number => world.nowMs
    nonces = await openNonces({ store: world.opened.store, file: join(folder, 'nonces.log'), now })
    notices = createNotices(world.options())
    rounds = startNoticeRounds({ ...world.options(), log: { error: assert.fail as never } })
    for (const trader of [ALICE, BOB]) await issueKey(trader, 'base')
    await world.register({ agent: AGENT, trader: ALICE })
    app = appOf()
  })
  afterEach(async () => {
    await app.close()
    await rounds.close()
    nonces.close()
    await world.remove()
    rmSync(folder, { recursive: true, force: true })
  })

  async function issueKey(trader: Address, chain: ChainSlug): Promise<string> {
    const key = createApiKey()
    const issued = { createdAtMs: 1, signedAtMs: 1, lastUsedAtMs: null, isProven: true }
    const record = { chain, trader, label: 'test', keyHash: hashApiKey(key)!, ...issued }
    await world.opened.store.transaction(TEST_SCOPE, (sql) => saveApiKey(sql, record))
    keys.set(trader, key)
    return key
  }

  function appOf(): FastifyInstance {
    const now = (): number => world.nowMs
    const limits = createInProcessLimits()
    const context = {
      chains: world.chains,
      now,
      notices: {
        list: (trader: Address) => (fault === undefined ? notices.list(trader) : Promise.reject(fault)),
        dismiss: (trader: Address, id: number) =>
          fault === undefined ? notices.dismiss(trader, id) : Promise.reject(fault),
      },
      authenticate: {
        registry: world.registry,
        engine,
        limits,
        agentLimit,
        admission: admitInProcess({ limits, nonces, now }),
        nonces,
        headerPrefix: 'X-Service-',
        domainOf: (chain: ChainSlug) => world.agentsOf(chain).domain,
        now,
      },
    }
    const made = createApp('silent')
    registerHooks(made, { limits, limit: ipLimit, trustedProxies: 0, now })
    registerRoute(made, listNotificationsRoute, context)
    registerRoute(made, dismissNotificationRoute, context)
    return made
  }

  async function tell(changes: Partial<Notice> = {}): Promise<number> {
    const notice: Notice = {
      trader: ALICE,
      key: { chain: 'base', type: 'order_filled', subject: String(Math.random()) },
      content: {
        severity: 'info',
        title: 'Order filled',
        message: 'Opened a long of 0.1 BTC/USD at 60000 on base.',
        market: 'BTC/USD',
        orderId: '7',
        positionId: '8',
        link: '/v1/base/orders/7',
      },
      createdAtMs: world.nowMs,
      expiresAtMs: world.nowMs + 1_000,
      ...changes,
    }
    return world.opened.store.transaction(TEST_SCOPE, async (sql) => {
      const [id] = await takeNoticeIds(sql, 1)
      await saveNotice(sql, id!, notice)
      return id!
    })
  }

  const get = async (address: string) => {
    const answer = await app.inject(`/api/notifications/${address}`)
    return { status: answer.statusCode, headers: answer.headers, body: answer.json() }
  }
  const idsOf = async (address = ALICE): Promise<number[]> =>
    (await get(address)).body.notifications.map(({ id }: { id: number }) => id)

  async function post(body: string, headers: Record<string, string>, path = DISMISS) {
    const answer = await app.inject({
      method: 'POST',
      url: path,
      headers: { 'content-type': 'application/json', ...headers },
      body,
    })
    return { status: answer.statusCode, headers: answer.headers, body: answer.json() }
  }
  const withKey = (trader: Address) => ({ 'x-service-api-key': keys.get(trader)! })
  const naming = (notificationId: unknown) => JSON.stringify({ notificationId })

  async function sign(of: Signed): Promise<Record<string, string>> {
    const { chain = 'base', by = account, operation = 'dismissNotification', path = DISMISS, body } = of
    const timestamp = of.timestamp ?? String(world.nowMs)
    const nonce = of.nonce ?? String((lastNonce += 1))
    const signature = await by.signTypedData({
      domain: world.agentsOf(chain).domain,
      primaryType: operation,
      types: { [operation]: REQUEST_FIELDS },
      message: {
        method: 'POST',
        path,
        bodyHash: keccak256(stringToBytes(body)),
        timestamp: BigInt(timestamp),
        nonce: BigInt(nonce),
      },
    } as never)
    return {
      'x-service-agent': by.address,
      'x-service-timestamp': timestamp,
      'x-service-nonce': nonce,
      'x-service-signature': signature,
    }
  }

  describe('reading', () => {
    it('needs no credentials, and takes an address in any case', async () => {
      const id = await tell()
      const pause = { type: 'chain_paused', subject: '*', chain: 'arbitrum' } as const
      const paused = await tell({ trader: EVERYBODY, key: pause, createdAtMs: world.nowMs + 1, expiresAtMs: null })
      const { status, body, headers } = await get(ALICE.toLowerCase())
      assert.equal(status, 200)
      assert.match(String(headers['content-type']), /^application\/json/)
      assert.equal(headers['ratelimit-limit'], '1000')
      assert.deepEqual([...Value.Errors(NotificationListSchema, body)], [])
      assert.equal(body.address, ALICE)
      assert.deepEqual(
        body.notifications.map((notification: { id: number }) => notification.id),
        [paused, id],
      )
    })

    it('of a wallet nobody knows is empty', async () => {
      assert.deepEqual((await get(BOB)).body, { success: true, address: BOB, notifications: [] })
    })

    it('of what is no address is 400 in the shape of these routes', async () => {
      for (const address of ['0x12', 'alice', `${ALICE}00`, '%00', encodeURIComponent("' or 1=1 --")]) {
        const { status, body } = await get(address)
        assert.equal(status, 400, address)
        assert.deepEqual([...Value.Errors(NotificationErrorSchema, body)], [])
        assert.equal(body.error, 'VALIDATION_ERROR')
      }
    })

    it('is 500 in that shape when the service fails, and says nothing of why', async () => {
      for (const error of [new Error('secret'), new StoreUnavailableError('secret')]) {
        fault = error
        const { status, body } = await get(ALICE)
        assert.equal(status, 500)
        assert.deepEqual([...Value.Errors(NotificationErrorSchema, body)], [])
        assert.ok(!JSON.stringify(body).includes('secret'))
      }
    })

    it('is limited by IP like everything, with the usual answer', async () => {
      ipLimit = 1
      await app.close()
      app = appOf()
      await get(ALICE)
      const { status, body, headers } = await get(ALICE)
      assert.deepEqual([status, body.code, ownDetails(body.details)], [429, 'RATE_LIMITED', { scope: 'ip' }])
      assert.ok(headers['retry-after'] !== undefined)
    })
  })

  describe('dismissing', () => {
    it('works with an API key of the trader, from any chain, and again', async () => {
      const [first, second] = [await tell(), await tell()]
      const answer = await post(naming(first), withKey(ALICE))
      assert.deepEqual([answer.status, answer.body], [200, { success: true }])
      assert.deepEqual((await post(naming(first), withKey(ALICE))).body, { success: true })
      assert.deepEqual(await idsOf(), [second])
      await issueKey(ALICE, 'arbitrum')
      assert.equal((await post(naming(second), withKey(ALICE))).status, 200)
      assert.deepEqual(await idsOf(), [])
    })

    it('works with the signature of an agent, for the chain it is registered on', async () => {
      const body = naming(await tell())
      const answer = await post(body, await sign({ body }))
      assert.deepEqual([answer.status, answer.body], [200, { success: true }])
      assert.equal(answer.headers['ratelimit-limit'], '1000')
    })

    it('takes the domain of any chain on which the agent is registered for this trader, and no other', async () => {
      const body = naming(await tell())
      const elsewhere = await post(body, await sign({ body, chain: 'arbitrum' }))
      assert.deepEqual([elsewhere.status, elsewhere.body.error], [401, 'INVALID_SIGNATURE'])
      await world.register({ agent: AGENT, trader: ALICE, chain: 'arbitrum' })
      assert.equal((await post(body, await sign({ body, chain: 'arbitrum' }))).status, 200)
      assert.equal((await post(body, await sign({ body, chain: 'base' }))).status, 200)
    })

    it('needs no delegation on the chain', async () => {
      world.isNodeAway = true
      const body = naming(await tell())
      assert.equal((await post(body, await sign({ body }))).status, 200)
      assert.equal(world.roundTrips, 0)
    })

    it('is refused to a stranger', async () => {
      const id = await tell()
      const body = naming(id)
      const attempts: [why: string, headers: Record<string, string>, path?: string][] = [
        ['nothing at all', {}],
        ["another trader's key", withKey(BOB)],
        ['a key that does not exist', { 'x-service-api-key': createApiKey() }],
        ['no key', { 'x-service-api-key': 'x' }],
        ['a key in the query', {}, `${DISMISS}?x-service-api-key=${keys.get(ALICE)}&apiKey=${keys.get(ALICE)}`],
        ['a key as bearer', { authorization: `Bearer ${keys.get(ALICE)}` }],
        ['an agent nobody registered', await sign({ body, by: stranger })],
        ['a signature of somebody else', { ...(await sign({ body, by: stranger })), 'x-service-agent': AGENT }],
        ['a signature over another operation', await sign({ body, operation: 'getAccount' })],
        ['a signature over another body', await sign({ body: naming(id + 1) })],
        ['a signature over another path', await sign({ body, path: `/api/notifications/${BOB}/dismiss` })],
        ['an old signature', await sign({ body, timestamp: String(world.nowMs - 30_001) })],
        ['a part of the headers', { 'x-service-agent': AGENT, ...withKey(ALICE) }],
      ]
      for (const [why, headers, path] of attempts) {
        const answer = await post(body, headers, path)
        assert.equal(answer.status, 401, why)
        assert.deepEqual([...Value.Errors(NotificationErrorSchema, answer.body)], [], why)
      }
      assert.deepEqual(await idsOf(), [id])
    })

    it('is refused to an agent of another trader, also one that is ours on another chain', async () => {
      const body = naming(await tell())
      await world.register({ agent: stranger.address as Address, trader: BOB })
      assert.equal((await post(body, await sign({ body, by: stranger }))).status, 401)
      await world.register({ agent: stranger.address as Address, trader: ALICE, chain: 'arbitrum' })
      assert.equal((await post(body, await sign({ body, by: stranger }))).status, 401, 'signed as an agent of Bob')
      assert.equal((await post(body, await sign({ body, by: stranger, chain: 'arbitrum' }))).status, 200)
    })

    it('is refused to a revoked or expired agent', async () => {
      const body = naming(await tell())
      await world.register({ agent: AGENT, trader: ALICE, revoked: true })
      const revoked = await post(body, await sign({ body }))
      assert.deepEqual([revoked.status, revoked.body.error], [401, 'AGENT_REVOKED'])
      await world.register({ agent: AGENT, trader: ALICE }, world.nowMs)
      const expired = await post(body, await sign({ body }))
      assert.deepEqual([expired.status, expired.body.error], [401, 'AGENT_EXPIRED'])
    })

    it('takes a nonce once', async () => {
      const body = naming(await tell())
      const headers = await sign({ body })
      assert.equal((await post(body, headers)).status, 200)
      const again = await post(body, headers)
      assert.deepEqual([again.status, again.body.error], [401, 'NONCE_REUSED'])
    })

    it('burns no nonce of an agent by a bad signature', async () => {
      const body = naming(await tell())
      const forged = await sign({ body, by: stranger, nonce: '777' })
      assert.equal((await post(body, { ...forged, 'x-service-agent': AGENT })).status, 401)
      assert.equal((await post(body, await sign({ body, nonce: '777' }))).status, 200)
    })

    it("of another wallet's notice, or of none, is 400, and hides nothing", async () => {
      const id = await tell()
      const path = `/api/notifications/${BOB}/dismiss`
      for (const unknown of [id, id + 1, Number.MAX_SAFE_INTEGER]) {
        const answer = await post(naming(unknown), withKey(BOB), path)
        assert.deepEqual([answer.status, answer.body.error], [400, 'VALIDATION_ERROR'])
      }
      assert.deepEqual(await idsOf(), [id])
    })

    it('hides what is to everybody from this wallet alone', async () => {
      const key = { chain: 'base', type: 'chain_paused', subject: '*' } as const
      const id = await tell({ trader: EVERYBODY, key, expiresAtMs: null })
      assert.equal((await post(naming(id), withKey(ALICE))).status, 200)
      assert.deepEqual([await idsOf(ALICE), await idsOf(BOB)], [[], [id]])
    })

    it('of a malformed body is 400', async () => {
      await tell()
      const ids = ['"1"', '0', '-1', '1.5', 'null', 'true', '[1]', '{}', '9007199254740993', '1e400', '1e21']
      const bodies = ids.map((id) => `{"notificationId":${id}}`)
      for (const body of [...bodies, '', '{}', '[]', 'null', '{"notificationId":1,"a":1}', '{', '{"id":1}']) {
        const answer = await post(body, withKey(ALICE))
        assert.equal(answer.status, 400, body)
        assert.deepEqual([...Value.Errors(NotificationErrorSchema, answer.body)], [], body)
      }
      const text = await post('notificationId=1', { ...withKey(ALICE), 'content-type': 'text/plain' })
      assert.equal(text.status, 400)
      assert.deepEqual(await idsOf(), [1])
    })

    it('of malformed headers or what is no address is 400', async () => {
      const body = naming(await tell())
      const headers = await sign({ body })
      assert.equal((await post(body, { ...headers, 'x-service-nonce': '-1' })).status, 400)
      assert.equal((await post(body, withKey(ALICE), '/api/notifications/0x12/dismiss')).status, 400)
    })

    it('is 500 when the service fails', async () => {
      const body = naming(await tell())
      fault = new StoreUnavailableError('full')
      const answer = await post(body, withKey(ALICE))
      assert.equal(answer.status, 500)
      assert.deepEqual([...Value.Errors(NotificationErrorSchema, answer.body)], [])
    })

    it('counts against the limit of the key or the agent, and a stranger uses up neither', async () => {
      agentLimit = 1
      await app.close()
      app = appOf()
      const body = naming(await tell())
      assert.equal((await post(body, withKey(BOB))).status, 401)
      assert.equal(
        (await post(body, { ...(await sign({ body, by: stranger })), 'x-service-agent': AGENT })).status,
        401,
      )
      for (const credentials of [() => withKey(ALICE), () => sign({ body })]) {
        assert.equal((await post(body, await credentials())).status, 200)
        const { status, body: refusal } = await post(body, await credentials())
        assert.deepEqual([status, refusal.code, ownDetails(refusal.details)], [429, 'RATE_LIMITED', { scope: 'agent' }])
      }
    })

    it('is a POST and nothing else', async () => {
      assert.equal((await app.inject(DISMISS)).statusCode, 404)
      assert.equal((await app.inject({ method: 'DELETE', url: `/api/notifications/${ALICE}` })).statusCode, 404)
    })
  })
})
