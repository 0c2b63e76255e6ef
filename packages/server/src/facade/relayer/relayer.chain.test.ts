import assert from 'node:assert/strict'
import { fork, type ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { diamondAbi, type Address, type Hex } from '@bezel/protocol'
import { encodeFunctionData, type Transaction } from 'viem'
import { P10, tradeOf } from '@bezel/testkit/chainClient.ts'
import { depthFinality } from '../../chain/finality.ts'
import { startDevnetWorld, type DevnetWorld, type FollowedStore } from '../../follower/testing/devnetWorld.ts'
import type { Attempt, AttemptId } from '../../trading/orders/orderModel.ts'
import { wrapCalls } from '../../trading/plan/encodeCall.ts'
import { type Relayer, startRelayer } from './startRelayer.ts'
import { createRelayerKey, type RelayerKey } from './relayerKey.ts'
import { defaultRelayerSettings, type RelayerSettings } from './relayerSettings.ts'
import { loadSigningEngine } from './signingEngine.ts'
import type { RelayingProcessOptions } from './testing/relayingProcess.ts'
import { registerOwn } from './testing/relayWorld.ts'
import { TEST_SCOPE } from '../../store/testing/testScope.ts'

const FINALITY = depthFinality(8)

const WAIT_MS = 30_000

const KILLS = 6

const TRADERS = ['trader-1', 'trader-2', 'trader-3', 'trader-4']

describe('the relayer on the local chain', () => {
  let world: DevnetWorld
  let followed: FollowedStore
  let key: RelayerKey
  let relayer: Relayer
  let startNonce = 0

  before(async () => {
    world = await startDevnetWorld()
    followed = await world.follow({ finality: FINALITY })
    const { privateKey } = world.devnet.file.accounts.find(({ name }) => name === 'relayer')!
    key = createRelayerKey(Buffer.from(privateKey.slice(2), 'hex'), await loadSigningEngine())
    for (const name of TRADERS) await world.chain.send(world.chain.account(name), 'setTradingDelegate', [key.address])
    const traders = TRADERS.map((name) => world.chain.account(name).address as Address)
    await registerOwn(followed.opened.store, world.served.slug, traders)
    await start()
  })
  after(async () => {
    await relayer?.close()
    await followed?.stop()
    await world?.close()
  })

  async function start(settings: Partial<RelayerSettings> = {}): Promise<void> {
    await relayer?.close()
    relayer = await startRelayer({
      chain: world.served,
      finality: FINALITY,
      client: world.client,
      store: followed.opened.store,
      key,
      settings: {
        ...defaultRelayerSettings('arbitrum-sepolia'),
        pollMs: 50,
        feesMs: 200,
        stuckMs: 400,
        minRepriceMs: 200,
        ...settings,
      },
      now: Date.now,
      log: { info: () => undefined, warn: () => undefined, error: console.error } as never,
      head: () => followed.follower.head(),
    })
    await until(() => relayer.health().problem === null)
    startNonce = await world.chain.client.getTransactionCount({ address: key.address })
  }

  async function until(isTrue: () => boolean | Promise<boolean>): Promise<void> {
    for (const deadlineMs = Date.now() + WAIT_MS; Date.now() < deadlineMs; await sleep(10)) if (await isTrue()) return
    assert.fail(
      `it did not come: ${JSON.stringify(relayer.health(), (_, value) => (typeof value === 'bigint' ? String(value) : value))}`,
    )
  }

  const settled = (): Promise<void> => until(() => relayer.health().unsettled === 0)

  /** Returns a resting order of one of the traders, as the facade prepares it. */
  function orderOf(i: number, lastsMs = 60_000): { attempt: Attempt; trader: Address } {
    const trader = world.chain.account(TRADERS[i % TRADERS.length]!).address as Address
    const id = `0x${randomBytes(8).toString('hex')}` as AttemptId
    const trade = {
      ...tradeOf(world.chain, trader, { price: 50_000n, tradeType: 1 }),
      openPrice: (50_000n + BigInt(i)) * P10,
    }
    const args = [trade, 1_000, '0x0000000000000000000000000000000000000000'] as const
    const open = encodeFunctionData({ abi: diamondAbi, functionName: 'openTrade', args }) as Hex
    const { data } = wrapCalls({ calls: [open], trader, agent: key.address, attemptId: id })
    const nowMs = Date.now()
    const rest = {
      size: null,
      submittedHash: null,
      submittedAtMs: null,
      trustedUntilMs: null,
      isMismatch: false,
      withdrawnAtMs: null,
    }
    const attempt: Attempt = {
      id,
      kind: 'open',
      sender: key.address,
      calldata: data,
      gas: '3000000',
      createdAtMs: nowMs,
      expiresAtMs: nowMs + lastsMs,
      ...rest,
    }
    return { attempt, trader }
  }

  async function relay(count: number, lastsMs?: number): Promise<{ attempts: Attempt[]; hashes: Hex[] }> {
    const made = Array.from({ length: count }, (_, i) => orderOf(i, lastsMs))
    const hashes: Hex[] = []
    for (const of of made) {
      const action = { ...of, agent: of.trader, purpose: { kind: 'other' } } as const
      const { hash } = await followed.opened.store.transaction(TEST_SCOPE, (sql) => relayer.enqueue(sql, action))
      hashes.push(hash)
    }
    return { attempts: made.map(({ attempt }) => attempt), hashes }
  }

  /** Reads the relayer's transactions on the chain from a nonce on, in the order of the chain. */
  async function minedFrom(nonce: number): Promise<Transaction[]> {
    const { client } = world.chain
    const head = await client.getBlockNumber()
    const found: Transaction[] = []
    for (let number = head; ; number -= 1n) {
      const { transactions } = await client.getBlock({ blockNumber: number, includeTransactions: true })
      const own = transactions.filter(({ from }) => from.toLowerCase() === key.address.toLowerCase())
      found.unshift(...own)
      if (number === 0n || own.some((one) => one.nonce <= nonce)) return found.filter((one) => one.nonce >= nonce)
    }
  }

  /** Expects each attempt to be mined once, in order, without gaps between the nonces. */
  async function expectMined(attempts: readonly Attempt[], nonce: number): Promise<Transaction[]> {
    const mined = await minedFrom(nonce)
    assert.deepEqual(
      mined.map(({ input }) => input),
      attempts.map(({ calldata }) => calldata),
    )
    assert.deepEqual(
      mined.map((one) => one.nonce),
      attempts.map((_, i) => nonce + i),
    )
    return mined
  }

  it('has twenty actions at a time mined in their order', async () => {
    const nonce = startNonce
    const { attempts, hashes } = await relay(20)
    await Promise.all(hashes.map((hash) => relayer.broadcast(hash)))
    await settled()
    const mined = await expectMined(attempts, nonce)
    assert.deepEqual(
      mined.map(({ hash }) => hash),
      hashes,
    )
    const receipts = await Promise.all(hashes.map((hash) => world.chain.client.getTransactionReceipt({ hash })))
    assert.ok(receipts.some(({ status }) => status === 'success'))
    assert.equal(relayer.health().counts.mined, 20)
  })

  for (const mode of ['drop', 'remine'] as const) {
    it(`brings back what a reorganisation replaced: ${mode}`, async () => {
      await start()
      const nonce = startNonce
      const { attempts, hashes } = await relay(5)
      await Promise.all(hashes.map((hash) => relayer.broadcast(hash)))
      await until(() => relayer.health().waiting === 0)
      await world.mining.pause()
      await world.chain.control('bezel_reorg', 5, mode)
      world.mining.resume()
      await settled()
      await expectMined(attempts, nonce)
    })
  }

  it('re-prices what the base fee has left behind', async () => {
    await start({ feesMs: 200 })
    const nonce = startNonce
    await world.mining.pause()
    const { attempts, hashes } = await relay(3)
    await Promise.all(hashes.map((hash) => relayer.broadcast(hash)))
    await world.chain.control('hardhat_setNextBlockBaseFeePerGas', '0x11e1a300')
    world.mining.resume()
    await settled()
    const mined = await expectMined(attempts, nonce)
    assert.ok(mined.every(({ hash }) => !hashes.includes(hash as Hex)))
    await world.chain.control('hardhat_setNextBlockBaseFeePerGas', '0x989680')
  })

  it('burns the nonce of what was not mined in time, and what comes after is mined', async () => {
    await start()
    const nonce = startNonce
    await world.mining.pause()
    const late = await relay(2, 600)
    const { attempts } = await relay(1)
    await Promise.all(late.hashes.map((hash) => relayer.broadcast(hash)))
    await until(async () => {
      const pool = await world.chain.control<{ pending: Record<string, Record<string, { input: string }>> }>(
        'txpool_content',
      )
      const own =
        Object.entries(pool.pending).find(([address]) => address.toLowerCase() === key.address.toLowerCase())?.[1] ?? {}
      return [nonce, nonce + 1].every((one) => own[one]?.input === '0x')
    })
    world.mining.resume()
    await settled()
    const mined = await minedFrom(nonce)
    assert.deepEqual(
      mined.map(({ to, input, value }) => [to?.toLowerCase(), input, value]),
      [
        [key.address.toLowerCase(), '0x', 0n],
        [key.address.toLowerCase(), '0x', 0n],
        [world.served.diamond.toLowerCase(), attempts[0]!.calldata, 0n],
      ],
    )
    assert.equal(relayer.health().counts.burnt, 2)
  })

  it('goes on after a restart in the middle', async () => {
    await start()
    const nonce = startNonce
    const first = await relay(6)
    await relayer.broadcast(first.hashes[0]!)
    await relayer.close()
    // These are enqueued by a process that ends before it can send.
    const second = await relay(4)
    await start()
    await settled()
    await expectMined([...first.attempts, ...second.attempts], nonce)
  })

  it('neither loses nor repeats anything when its process is killed again and again', async () => {
    await start()
    const nonce = startNonce
    await relayer.close()
    const committed: string[] = []
    for (let kill = 0; kill < KILLS; kill += 1) {
      const alreadyCommitted = committed.length
      const child = await startProcess((id) => committed.push(id))
      for (let i = 0; i < 8; i += 1) child.send(orderOf(kill * 8 + i))
      // The kill comes before the commit, while the transaction is sent, or after it is mined.
      if (kill % 2 === 1) await until(() => committed.length > alreadyCommitted)
      await sleep(Math.floor((kill * 37) % 150))
      const exited = once(child, 'exit')
      child.kill('SIGKILL')
      await exited
    }
    await start()
    await settled()
    const stored = await followed.opened.store.read.all<{ calldata: string }>(
      'select calldata from relay_entries where nonce >= $1 order by nonce',
      nonce,
    )
    const mined = await minedFrom(nonce)
    assert.deepEqual(
      mined.map(({ input }) => input),
      stored.map(({ calldata }) => calldata),
    )
    const ids = new Set(mined.map(({ input }) => `0x${input.slice(-16)}`))
    assert.equal(ids.size, mined.length)
    assert.ok(committed.length > 0)
    for (const id of committed) assert.ok(ids.has(id), 'a committed action is not mined')
  })

  async function startProcess(onCommitted: (id: string) => void): Promise<ChildProcess> {
    const { privateKey } = world.devnet.file.accounts.find(({ name }) => name === 'relayer')!
    const options: RelayingProcessOptions = { chain: world.served, address: followed.opened.address, key: privateKey }
    const child = fork(new URL('./testing/relayingProcess.ts', import.meta.url), [JSON.stringify(options)])
    child.on('message', ({ committed }: { committed?: string }) => committed !== undefined && onCommitted(committed))
    await once(child, 'message')
    return child
  }
})
