import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { numberToHex } from 'viem'
import { attemptOf, openRelayWorld, type RelayWorld } from './testing/relayWorld.ts'
import type { SentTransaction } from './testing/fakeRelayNode.ts'

const BASE_FEE_WEI = 5_000_000n
/** Tip of others: ten times the base fee. */
const TIP_WEI = 10n * BASE_FEE_WEI
const MAX_FEE_WEI = 10n ** 9n / 2n

describe('renewals where others tip well above the base fee', () => {
  let world: RelayWorld
  let tipWei: bigint

  beforeEach(async () => {
    world = await openRelayWorld()
    world.node.baseFeeWei = BASE_FEE_WEI
    tipWei = TIP_WEI
    world.node.lie = ({ method }) => {
      const history = { baseFeePerGas: [numberToHex(world.node.baseFeeWei)], reward: [[numberToHex(tipWei)]] }
      return method === 'eth_feeHistory' ? { ok: true, result: history } : undefined
    }
    await world.settle()
  })
  afterEach(() => world.close())

  const enqueue = (ms: number) => world.enqueue(attemptOf({ expiresAtMs: world.nowMs + ms }))
  const waiting = (nonce = 0): SentTransaction => world.node.mempool.get(nonce)!
  const isBurn = ({ data }: SentTransaction): boolean => data.length === 2
  async function wait(ms: number): Promise<void> {
    world.nowMs += ms
    await world.settle()
  }

  it('follow them as soon as the next in line is late, not before', async () => {
    await enqueue(60_000)
    await enqueue(60_000)
    await world.settle()
    assert.equal(waiting().tipWei, BASE_FEE_WEI)
    await wait(9_999)
    assert.equal(waiting().tipWei, BASE_FEE_WEI)
    await wait(1)
    assert.deepEqual([waiting().tipWei, waiting().maxFeeWei], [TIP_WEI, 2n * BASE_FEE_WEI + TIP_WEI])
    assert.equal(waiting(1).tipWei, BASE_FEE_WEI)
  })

  it('never offer more than the most for it', async () => {
    tipWei = 10n * MAX_FEE_WEI
    await enqueue(60_000)
    await world.settle()
    assert.equal(waiting().tipWei, BASE_FEE_WEI)
    await wait(10_000)
    assert.deepEqual([isBurn(waiting()), waiting().tipWei, waiting().maxFeeWei], [false, MAX_FEE_WEI, MAX_FEE_WEI])
  })

  it('do not follow them where only the base fee made a new offer necessary', async () => {
    await enqueue(60_000)
    await world.settle()
    world.node.baseFeeWei *= 4n
    await wait(3_000)
    assert.equal(waiting().tipWei, 4n * BASE_FEE_WEI)
  })

  it('follow them with the burn of what expired late, and with a burn that is late itself', async () => {
    await enqueue(5_000)
    await world.settle()
    await wait(5_000)
    assert.ok(isBurn(waiting()) && waiting().tipWei < TIP_WEI)
    await wait(10_000)
    assert.ok(isBurn(waiting()) && waiting().tipWei === TIP_WEI)
    world.node.mine()
    await enqueue(10_000)
    await world.settle()
    await wait(10_000)
    assert.ok(isBurn(waiting(1)) && waiting(1).tipWei === TIP_WEI)
  })
})
