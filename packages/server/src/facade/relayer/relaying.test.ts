import { NodeUnavailableError } from '../../ground/unavailable.ts'
import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import type { Hex } from '@bezel/protocol'
import type { RpcOutcome } from '../../chain/rpcClient.ts'
import { readRelayedGasWei } from '../../store/relayGasStore.ts'
import { utcDayOf } from '../../trading/scope.ts'
import {
  attemptOf,
  CHAIN,
  FINAL_BLOCKS,
  openRelayWorld,
  OTHER_TRADER,
  relayRefusal,
  type RelayWorld,
  START_MS,
  testKey,
  TRADER,
} from './testing/relayWorld.ts'
import { TEST_SCOPE } from '../../store/testing/testScope.ts'

const DAY = utcDayOf(START_MS)

const refused = (message: string): RpcOutcome => ({ ok: false, code: -32000, message, data: undefined })

describe('relaying', () => {
  let world: RelayWorld

  beforeEach(async () => {
    world = await openRelayWorld()
    await world.settle()
  })
  afterEach(() => world.close())

  const mempoolHashes = (): Hex[] => [...world.node.mempool.values()].map(({ hash }) => hash)
  const minedHashes = (): Hex[] => world.node.minedTransactions().map(({ hash }) => hash)

  it('sends in the order of nonces, and is done only when its block is final', async () => {
    const hashes = [await world.enqueue(), await world.enqueue(), await world.enqueue()]
    assert.equal(world.node.received.length, 0)
    await world.settle()
    assert.deepEqual(mempoolHashes(), hashes)
    await world.pass(FINAL_BLOCKS)
    assert.deepEqual(minedHashes(), hashes)
    assert.deepEqual([world.relaying.health().waiting, world.relaying.health().unsettled], [0, 3])
    await world.pass(2)
    assert.equal(world.relaying.health().unsettled, 0)
    assert.equal(world.relaying.health().counts.mined, 3)
  })

  it('is done when the node names its block final, and sends again what a reorganisation before that drops', async () => {
    let named = 0
    world.finality = { lastFinal: (head) => Math.min(named, head) }
    const hash = await world.enqueue()
    await world.pass(40)
    assert.deepEqual([world.relaying.health().waiting, world.relaying.health().unsettled], [0, 1])
    world.node.reorg(40, 'drop')
    await world.settle()
    assert.equal(world.relaying.health().waiting, 1)
    await world.pass(3, 2_000)
    assert.deepEqual(minedHashes(), [hash])
    named = world.node.head()
    await world.settle()
    await world.pass(1)
    assert.equal(world.relaying.health().unsettled, 0)
  })

  it('takes an attempt once, whoever asks again and when', async () => {
    const attempt = attemptOf({ expiresAtMs: world.nowMs + 60_000 })
    const hash = await world.enqueue(attempt)
    assert.equal(await world.enqueue(attempt), hash)
    await world.pass(FINAL_BLOCKS + 2)
    assert.equal(await world.enqueue(attempt), hash)
    assert.equal(world.node.used(), 1)
  })

  it('keeps nothing of a transaction that was rolled back, and gives its nonce to the next', async () => {
    const failing = world.opened.store.transaction(TEST_SCOPE, async (sql) => {
      const attempt = attemptOf({ expiresAtMs: world.nowMs + 60_000 })
      await world.relaying.enqueue(sql, { attempt, trader: TRADER, agent: TRADER, purpose: { kind: 'other' } })
      throw new Error('the order was refused')
    })
    await assert.rejects(failing, /refused/)
    const hash = await world.enqueue()
    await world.pass(1)
    assert.deepEqual(minedHashes(), [hash])
    assert.equal(
      await readRelayedGasWei(world.opened.store.read, CHAIN.slug, DAY, TRADER),
      20_000n * world.node.minedTransactions()[0]!.maxFeeWei,
    )
  })

  it('tells once who waits for a transaction that failed on the chain, or whose nonce was burnt', async () => {
    const [failing, working] = [await world.enqueue(), await world.enqueue()]
    const told: string[] = []
    world.relaying.onFailed(failing, () => told.push('failing'))
    world.relaying.onFailed(failing, () => told.push('failing as well'))
    world.relaying.onFailed(working, () => told.push('working'))
    world.relaying.onFailed(failing, () => told.push('nobody waits any more'))()
    world.node.lie = ({ method, params }, truth) => {
      const isIts = method === 'eth_getTransactionReceipt' && params[0] === failing
      return isIts && truth.ok && truth.result !== null
        ? { ok: true, result: { ...(truth.result as object), status: '0x0' } }
        : undefined
    }
    await world.settle()
    assert.equal(told.length, 0)
    await world.pass(3)
    assert.equal(told.join(), 'failing,failing as well')

    world.node.baseFeeWei = 10n ** 12n
    const late = await world.enqueue(attemptOf({ expiresAtMs: world.nowMs + 1_000 }))
    world.relaying.onFailed(late, () => told.push('late'))
    world.nowMs += 2_000
    world.node.baseFeeWei = 10_000_000n
    await world.settle()
    await world.pass(2)
    assert.ok(told.includes('late'))
  })

  it('says what is on its way: until it is mined and followed, however late, or burnt', async () => {
    const hash = await world.enqueue(attemptOf({ expiresAtMs: world.nowMs + 600_000 }))
    const isOnItsWay = () => world.relaying.isOnItsWay(hash)
    assert.equal(await isOnItsWay(), true, 'it is stored')
    await world.settle()
    world.nowMs += 300_000
    assert.equal(await isOnItsWay(), true, 'no block has it')
    world.node.before = () => {
      throw new NodeUnavailableError('away')
    }
    await assert.rejects(world.settle(), NodeUnavailableError)
    assert.equal(await isOnItsWay(), true, 'no node answers')
    world.node.before = undefined
    await world.pass(1)
    assert.equal(await isOnItsWay(), false, 'it is in a followed block')
    world.node.reorg(2, 'drop')
    await world.settle()
    assert.equal(await isOnItsWay(), true, 'its block is gone')
    await world.pass(FINAL_BLOCKS + 2)
    assert.equal(await isOnItsWay(), false, 'it is final')
    const late = await world.enqueue(attemptOf({ expiresAtMs: world.nowMs + 1_000 }))
    world.nowMs += 2_000
    await world.settle()
    assert.equal(await world.relaying.isOnItsWay(late), true, 'its burn is not mined')
    await world.pass(1)
    assert.equal(await world.relaying.isOnItsWay(late), false, 'it is burnt')
    assert.equal(await world.relaying.isOnItsWay(`0x${'12'.repeat(32)}` as Hex), false, 'nobody sent it')
  })

  it('sends again what a reorganisation dropped', async () => {
    const hashes = [await world.enqueue(), await world.enqueue()]
    await world.pass(3)
    world.node.reorg(4, 'drop')
    assert.equal(world.node.used(), 0)
    await world.settle()
    assert.deepEqual(mempoolHashes(), hashes)
    await world.pass(1)
    assert.deepEqual(minedHashes(), hashes)
  })

  it('re-prices what is stuck, tells the new hash, and settles whichever version is mined', async () => {
    const first = await world.enqueue()
    await world.settle()
    const before = world.node.mempool.get(0)!
    world.nowMs += 10_000
    await world.settle()
    const after = world.node.mempool.get(0)!
    assert.notEqual(after.hash, first)
    assert.equal(after.data, before.data)
    assert.ok(8n * after.maxFeeWei >= 9n * before.maxFeeWei && 8n * after.tipWei >= 9n * before.tipWei)
    assert.deepEqual(
      world.hashes.map(({ hash }) => hash),
      [after.hash],
    )
    // The mining node had not received the second version.
    world.node.mempool.set(0, before)
    await world.pass(1)
    assert.deepEqual(
      world.hashes.map(({ hash }) => hash),
      [after.hash, first],
    )
    await world.pass(FINAL_BLOCKS + 1)
    assert.equal(world.relaying.health().unsettled, 0)
    assert.equal(await readRelayedGasWei(world.opened.store.read, CHAIN.slug, DAY, null), 20_000n * before.maxFeeWei)
  })

  it('re-prices at once when the base fee is beyond the offer or the node wants more, but not again and again', async () => {
    await world.enqueue()
    await world.settle()
    world.node.baseFeeWei *= 10n
    world.nowMs += 3_000
    await world.settle()
    assert.ok(world.node.mempool.get(0)!.maxFeeWei > world.node.baseFeeWei)
    world.node.lie = ({ method }) =>
      method === 'eth_sendRawTransaction' ? refused('transaction underpriced') : undefined
    const count = world.node.received.length
    for (let i = 0; i < 100; i += 1) {
      world.nowMs += 100
      await world.settle()
    }
    const offers = new Set(world.node.received.slice(count).map(({ hash }) => hash))
    assert.ok(offers.size <= 11, `${offers.size} offers in ten seconds`)
  })

  it('never offers more than the most, however long a node wants more', async () => {
    world.node.lie = ({ method }) =>
      method === 'eth_sendRawTransaction' ? refused('transaction underpriced') : undefined
    const maxFeeWei = 10n ** 9n / 2n
    await world.enqueue(attemptOf({ expiresAtMs: world.nowMs + 150_000 }))
    for (let i = 0; i < 300; i += 1) {
      world.nowMs += 1_000
      await world.settle()
    }
    const actions = world.node.received.filter(({ data }) => data.length > 2)
    assert.ok(actions.every((sent) => sent.maxFeeWei <= maxFeeWei))
    const burns = world.node.received.filter(({ data }) => data.length === 2)
    assert.ok(burns.length > 0 && burns.every((sent) => sent.maxFeeWei <= 2n * maxFeeWei))
    // The same holds when the node answers correctly again.
    world.node.lie = undefined
    world.nowMs += 5_000
    await world.settle()
    await world.pass(FINAL_BLOCKS + 2)
    assert.equal(world.relaying.health().counts.burnt, 1)
  })

  it('burns the nonce of what was not mined in time, so that the next can follow', async () => {
    const short = attemptOf({ expiresAtMs: world.nowMs + 5_000, gas: '2000000' })
    await world.enqueue(short)
    const second = await world.enqueue(attemptOf({ expiresAtMs: world.nowMs + 600_000 }))
    await world.settle()
    world.nowMs += 5_000
    await world.settle()
    const burn = world.node.mempool.get(0)!
    assert.deepEqual([burn.to, burn.data, burn.value], [testKey.address.toLowerCase(), '0x', 0n])
    await world.pass(1)
    assert.deepEqual(minedHashes(), [burn.hash, second])
    await world.pass(FINAL_BLOCKS + 1)
    assert.deepEqual(world.relaying.health().counts, { mined: 1, burnt: 1, repriced: 0, lost: 0 })
  })

  it('burns at once what no node ever takes, so that nobody waits behind it', async () => {
    await world.enqueue(attemptOf({ expiresAtMs: world.nowMs + 600_000 }))
    const second = await world.enqueue(attemptOf({ expiresAtMs: world.nowMs + 600_000 }))
    world.node.lie = ({ method, params }) => {
      const sent = method === 'eth_sendRawTransaction' ? world.node.received.at(-1) : undefined
      if (sent === undefined || params[0] !== sent.raw || sent.nonce !== 0 || sent.data.length === 2) return undefined
      world.node.mempool.delete(0)
      return refused('intrinsic gas too low')
    }
    await world.pass(20, 500)
    assert.equal(world.node.minedTransactions()[0]!.data, '0x')
    assert.equal(minedHashes()[1], second)
  })

  it('burns what was dropped after its time', async () => {
    await world.enqueue(attemptOf({ expiresAtMs: world.nowMs + 2_000 }))
    await world.pass(3, 1_000)
    world.node.reorg(4, 'drop')
    await world.settle()
    await world.pass(1)
    assert.equal(world.node.minedTransactions()[0]!.data, '0x')
  })

  it('goes on after a restart with the same bytes', async () => {
    const hashes = [await world.enqueue(), await world.enqueue()]
    world.restart()
    await world.settle()
    assert.deepEqual(mempoolHashes(), hashes)
    world.node.mempool.clear()
    await world.opened.reopen()
    world.restart(world.opened.store)
    await world.settle()
    assert.deepEqual(mempoolHashes(), hashes)
  })

  it('waits for a node that is away, and sends when it is back', async () => {
    const hash = await world.enqueue()
    world.node.before = () => {
      throw new NodeUnavailableError('away')
    }
    await assert.rejects(world.relaying.step(), NodeUnavailableError)
    world.node.before = undefined
    await world.settle()
    assert.deepEqual(mempoolHashes(), [hash])
  })

  it('tells whoever waits when the node has it', async () => {
    const hash = await world.enqueue()
    let isTold = false
    const told = world.relaying.taken(hash).then(() => (isTold = true))
    world.node.lie = ({ method }) => (method === 'eth_sendRawTransaction' ? refused('txpool is full') : undefined)
    await world.settle()
    assert.equal(isTold, false)
    world.node.lie = undefined
    world.nowMs += 1_000
    await world.settle()
    await told
    await Promise.all([world.relaying.taken(`0x${'00'.repeat(32)}` as Hex), world.settle()])
  })

  it('stops without gas, says so, and goes on when it is topped up', async () => {
    await world.enqueue()
    await world.enqueue()
    world.node.balanceWei = 10n ** 12n
    await world.settle()
    assert.equal(world.node.received.length, 2)
    assert.deepEqual(
      [world.relaying.health().isLow, world.relaying.health().problem?.includes(testKey.address)],
      [true, true],
    )
    assert.equal(await relayRefusal(world.enqueue()), 'low_balance')
    world.nowMs += 3_000
    await world.settle()
    assert.equal(world.node.received.length, 3)
    world.node.balanceWei = 10n ** 19n
    await world.pass(3, 3_000)
    assert.equal(world.node.used(), 2)
    assert.deepEqual([world.relaying.health().isLow, world.relaying.health().problem], [false, null])
  })

  it('takes nothing without knowing the price of gas, and asks no node for it meanwhile', async () => {
    world.restart()
    assert.equal(await relayRefusal(world.enqueue()), 'not_ready')
    await world.settle()
    await world.enqueue()
    world.nowMs += 61_000
    assert.equal(await relayRefusal(world.enqueue()), 'not_ready')
    await world.settle()
    world.node.baseFeeWei = 10n ** 12n
    world.nowMs += 3_000
    await world.settle()
    assert.equal(await relayRefusal(world.enqueue()), 'gas_too_dear')
  })

  it('refuses what it must not sign, as a bug of the caller', async () => {
    const attempt = attemptOf({ expiresAtMs: world.nowMs + 60_000 })
    await assert.rejects(world.enqueue(attempt, OTHER_TRADER), /not the trader's/)
    await assert.rejects(world.enqueue({ ...attempt, sender: TRADER }), /another sender/)
    await assert.rejects(world.enqueue({ ...attempt, calldata: '0xabcdef' as Hex }), /not the trader's/)
    assert.equal(await relayRefusal(world.enqueue({ ...attempt, expiresAtMs: world.nowMs })), 'expired')
    assert.equal(await relayRefusal(world.enqueue({ ...attempt, gas: '30000001' })), 'gas_too_dear')
    await world.enqueue({ ...attempt, gas: null })
  })
})

describe('budgets of gas', () => {
  /** The reserve of each action: a million units of gas at 20,000,100 wei. */
  const RESERVE_WEI = 1_000_000n * (2n * 10_000_000n + 100n)

  it('of a trader: refused before it is empty, settled to what was paid, renewed the next day', async () => {
    const world = await openRelayWorld({ traderDayWei: 2n * RESERVE_WEI })
    const far = (): ReturnType<typeof attemptOf> => attemptOf({ expiresAtMs: world.nowMs + 600_000 })
    await world.settle()
    await world.enqueue(far())
    await world.enqueue(far())
    assert.equal(await relayRefusal(world.enqueue(far())), 'trader_budget')
    const other = attemptOf({ expiresAtMs: world.nowMs + 60_000, trader: OTHER_TRADER })
    await world.enqueue(other, OTHER_TRADER)
    await world.pass(1)
    await world.enqueue(far())
    assert.equal(
      await readRelayedGasWei(world.opened.store.read, CHAIN.slug, DAY, TRADER),
      RESERVE_WEI + (2n * RESERVE_WEI) / 50n,
    )
    assert.equal(await relayRefusal(world.enqueue(far())), 'trader_budget')
    world.nowMs = (DAY + 1) * 86_400_000
    await world.settle()
    await world.enqueue(far())
    await world.close()
  })

  it('of the deployment: for everybody together', async () => {
    const world = await openRelayWorld({ deploymentDayWei: 2n * RESERVE_WEI })
    await world.settle()
    await world.enqueue()
    await world.enqueue(attemptOf({ expiresAtMs: world.nowMs + 60_000, trader: OTHER_TRADER }), OTHER_TRADER)
    assert.equal(await relayRefusal(world.enqueue()), 'deployment_budget')
    await world.close()
  })

  it('and a bound on what is under way', async () => {
    const world = await openRelayWorld({ maxUnmined: 6 })
    const far = (trader = TRADER): ReturnType<typeof attemptOf> =>
      attemptOf({ expiresAtMs: world.nowMs + 600_000, trader })
    await world.settle()
    for (let i = 0; i < 6; i += 1) await world.enqueue(far())
    assert.equal(await relayRefusal(world.enqueue(far())), 'busy')
    // Every trader has a few, also when all places are taken.
    for (let i = 0; i < 4; i += 1) await world.enqueue(far(OTHER_TRADER), OTHER_TRADER)
    assert.equal(await relayRefusal(world.enqueue(far(OTHER_TRADER), OTHER_TRADER)), 'busy')
    // What is mined does not count, however far finality is.
    await world.pass(1)
    assert.equal(world.relaying.health().unsettled, 10)
    await world.enqueue(far())
    await world.close()
  })
})

describe('a key that is used elsewhere', () => {
  let world: RelayWorld

  beforeEach(async () => {
    world = await openRelayWorld()
  })
  afterEach(() => world.close())

  it('begins where the chain is, pending transactions included', async () => {
    world.node.useElsewhere()
    world.node.useElsewhere()
    world.node.mempool.set(2, { ...world.node.minedTransactions()[0]!, nonce: 2 })
    await world.settle()
    await world.enqueue()
    await world.settle()
    assert.equal(world.node.received[0]!.nonce, 3)
  })

  it('burns nonces that somebody else left open', async () => {
    world.node.mempool.set(0, { ...foreign(), nonce: 0 })
    world.node.mempool.set(1, { ...foreign(), nonce: 1 })
    await world.settle()
    const hash = await world.enqueue(attemptOf({ expiresAtMs: world.nowMs + 600_000 }))
    await world.settle()
    world.node.mempool.delete(0)
    world.node.mempool.delete(1)
    await world.pass(20, 1_000)
    assert.equal(world.node.minedTransactions().at(-1)?.hash, hash)
    assert.equal(world.node.used(), 3)
    assert.ok(world.logged.some((text) => text.includes('left open')))
  })

  it('gives an attempt a new nonce only when the stranger is found in a final block', async () => {
    await world.settle()
    const attempt = attemptOf({ expiresAtMs: world.nowMs + 600_000 })
    const hash = await world.enqueue(attempt)
    await world.settle()
    world.node.useElsewhere()
    await world.pass(FINAL_BLOCKS - 1, 2_000)
    assert.equal(world.node.used(), 1)
    assert.ok(world.node.received.every((sent) => sent.hash === hash))
    await world.pass(6, 2_000)
    const last = world.node.minedTransactions().at(-1)!
    assert.deepEqual([world.node.used(), last.nonce, last.data], [2, 1, attempt.calldata])
    assert.equal(world.relaying.health().counts.lost, 1)
    assert.ok(world.logged.some((text) => text.includes('used elsewhere')))
    assert.equal(world.hashes.at(-1)?.hash, last.hash)
  })

  it('gives no new nonce while the node only lacks the receipt', async () => {
    await world.settle()
    await world.enqueue(attemptOf({ expiresAtMs: world.nowMs + 600_000 }))
    await world.settle()
    world.node.lie = ({ method }) => (method === 'eth_getTransactionReceipt' ? { ok: true, result: null } : undefined)
    await world.pass(60, 2_000)
    assert.equal(world.node.used(), 1)
    assert.equal(world.relaying.health().unsettled, 1)
    world.node.lie = undefined
    await world.pass(2)
    assert.equal(world.relaying.health().unsettled, 0)
  })

  it('does not take the receipt of a block that was left for an end', async () => {
    await world.settle()
    await world.enqueue(attemptOf({ expiresAtMs: world.nowMs + 600_000 }))
    await world.pass(1)
    const left = world.node.snapshot()
    world.node.reorg(1, 'drop')
    world.node.useElsewhere()
    world.node.lie = (call) => (call.method === 'eth_getTransactionReceipt' ? left(call) : undefined)
    await world.pass(FINAL_BLOCKS + 4)
    assert.equal(world.relaying.health().unsettled, 1)
    world.node.lie = undefined
    await world.pass(FINAL_BLOCKS + 6, 2_000)
    assert.equal(world.node.used(), 2)
    assert.deepEqual(world.relaying.health().counts, { mined: 1, burnt: 0, repriced: 0, lost: 1 })
  })

  it('gives up without a proof only when the time is over', async () => {
    await world.settle()
    await world.enqueue(attemptOf({ expiresAtMs: world.nowMs + 100_000 }))
    await world.settle()
    world.node.useElsewhere()
    world.node.lie = ({ method, params }) =>
      method === 'eth_getBlockByNumber' ||
      (method === 'eth_getTransactionCount' && Number(params[1]) < world.node.head() - 9)
        ? refused('missing trie node')
        : undefined
    await world.pass(40, 2_000)
    assert.equal(world.relaying.health().unsettled, 1)
    await world.pass(20, 2_000)
    assert.equal(world.relaying.health().unsettled, 0)
    assert.equal(world.node.used(), 1)
  })

  it('skips what was used beyond its own', async () => {
    await world.settle()
    await world.enqueue()
    await world.pass(1)
    world.node.useElsewhere()
    world.node.useElsewhere()
    await world.pass(2)
    const hash = await world.enqueue()
    await world.pass(2)
    assert.equal(world.node.minedTransactions().at(-1)?.hash, hash)
    assert.equal(world.node.used(), 4)
  })

  it('does not follow a node that counts nonsense', async () => {
    world.node.lie = ({ method }) =>
      method === 'eth_getTransactionCount' ? { ok: true, result: '0xffffff' } : undefined
    await world.settle()
    world.node.lie = ({ method }) =>
      method === 'eth_getTransactionCount' ? { ok: true, result: '0xfffffff' } : undefined
    await assert.rejects(world.relaying.step(), NodeUnavailableError)
  })

  function foreign(): ReturnType<RelayWorld['node']['minedTransactions']>[number] {
    const fees = { gas: 21_000n, maxFeeWei: 1n, tipWei: 1n }
    return { hash: '0xaa' as Hex, raw: '0x' as Hex, nonce: 0, to: TRADER, data: '0x' as Hex, value: 1n, ...fees }
  }
})
