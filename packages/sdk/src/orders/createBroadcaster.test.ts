import type { PreparedTransaction } from '@bezel/protocol/wire'
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { BroadcastError } from '../errors/broadcastError.ts'
import { TransactionTimeoutError } from '../errors/transactionErrors.ts'
import { CHAIN_ID, DIAMOND } from '../testing/sampleFacts.ts'
import { viemSender, type TransactionSender } from '../senders/transactionSender.ts'
import { createBroadcaster } from './createBroadcaster.ts'

const HASH = `0x${'12'.repeat(32)}` as const

const ADDRESS = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC'

const PATIENT = { timeoutMs: 60_000, pollMs: 1 }

const SHORT = { timeoutMs: 20, pollMs: 1 }

/** Returns a sender of viem whose node answers one receipt after the other, and the last one for ever. */
function senderOf(...receipts: readonly (object | null | Error)[]): TransactionSender {
  let asked = 0
  return viemSender({
    account: { address: ADDRESS },
    sendTransaction: async () => HASH,
    request: async (call) => {
      assert.deepEqual(call, { method: 'eth_getTransactionReceipt', params: [HASH] })
      const receipt = receipts[Math.min(asked++, receipts.length - 1)]
      if (receipt instanceof Error) throw receipt
      return receipt
    },
  })
}

/** Returns a sender whose node never answers, and the number of questions that it was asked. */
function silentSender(): { readonly sender: TransactionSender; readonly asked: () => number } {
  let asked = 0
  const isReverted = (): Promise<never> => {
    asked += 1
    return new Promise(() => undefined)
  }
  return { sender: { address: ADDRESS, sendTransaction: async () => HASH, isReverted }, asked: () => asked }
}

const READ = { isRead: true, withinMs: 1_000 }

const isReverted = (sender: TransactionSender | undefined, waits = PATIENT): Promise<boolean> =>
  createBroadcaster(sender, Date.now, waits).isReverted(HASH)

describe('the end of a transaction that was sent', () => {
  it('is that of its receipt, over pauses and outages of the node', async () => {
    assert.equal(await isReverted(senderOf(null, new Error('away'), { status: '0x0' })), true)
    assert.equal(await isReverted(senderOf({ status: '0x1' })), false)
  })

  it('has a time, and names the transaction after it', async () => {
    const isNamed = (error: unknown): boolean => error instanceof TransactionTimeoutError && error.txHash === HASH
    await assert.rejects(isReverted(senderOf(null), SHORT), isNamed)
    const failure = new Error('away')
    await assert.rejects(
      isReverted(senderOf(failure), SHORT),
      (error: Error) => isNamed(error) && error.cause === failure,
    )
    await assert.rejects(isReverted(silentSender().sender, SHORT), isNamed)
  })

  it('is not known by a sender that reads no receipts', async () => {
    const blind = { address: ADDRESS, sendTransaction: async () => HASH } as const
    assert.equal(await isReverted(blind), false)
    const look = createBroadcaster(blind, Date.now).watchRevert(HASH)
    for (let reads = 0; reads < 6; reads += 1) assert.equal(await look(READ), false)
  })

  it('is told to a wait after three more reads and three seconds, and forgotten when the block was undone', async () => {
    const [reverted, mined, away] = [{ status: '0x0' }, { status: '0x1' }, new Error('away')]
    /** Looks eight times; `reads` tells which reads before them succeeded. */
    const looksOver = async (
      receipts: readonly (object | null | Error)[],
      { reads = '11111111', stepMs = 1_000 } = {},
    ): Promise<string> => {
      let nowMs = 5_000
      const look = createBroadcaster(senderOf(...receipts), () => nowMs).watchRevert(HASH)
      let seen = ''
      for (const read of reads) {
        seen += Number(await look({ isRead: read === '1', withinMs: 1_000 }))
        nowMs += stepMs
      }
      return seen
    }
    assert.equal(await looksOver([null, away, reverted]), '00000111')
    assert.equal(await looksOver([reverted, reverted, null, mined]), '00000000')
    assert.equal(await looksOver([reverted, reverted, reverted, null, reverted]), '00000001', 'it starts anew')
    assert.equal(await looksOver([reverted, away, reverted]), '00001111', 'a node that is away tells nothing')
    assert.equal(await looksOver([mined]), '00000000')
    assert.equal(await looksOver([reverted], { reads: '10010010' }), '00000000', 'the service is away')
    assert.equal(await looksOver([reverted], { reads: '10010011' }), '00000001')
    assert.equal(await looksOver([reverted], { stepMs: 500 }), '00000011')
    assert.equal(await looksOver([reverted], { stepMs: 0 }), '00000000')
  })

  it('is looked for as long as the wait allows, by one look at a time', async () => {
    const { sender, asked } = silentSender()
    const silent = createBroadcaster(sender, Date.now).watchRevert(HASH)
    for (let looks = 0; looks < 3; looks += 1) assert.equal(await silent({ isRead: true, withinMs: 1 }), false)
    assert.equal(asked(), 1)
    // An answer that comes between two looks is that of the next one.
    const answers: ((reverted: boolean) => void)[] = []
    const slow = { ...sender, isReverted: () => new Promise<boolean>((resolve) => answers.push(resolve)) }
    let nowMs = 0
    const look = createBroadcaster(slow, () => nowMs).watchRevert(HASH)
    const seen: boolean[] = []
    for (let looks = 0; looks < 8; looks += 1) {
      seen.push(await look({ isRead: true, withinMs: 1 }))
      if (looks % 2 === 0) answers.at(-1)!(true)
      nowMs += 1_000
    }
    assert.deepEqual([answers.length, seen.at(-3), seen.at(-1)], [4, false, true])
  })
})

describe('a transaction that was sent', () => {
  const transaction = (data: `0x${string}`): PreparedTransaction =>
    ({ to: DIAMOND, data, value: '0', chainId: CHAIN_ID, gas: null, expiresAt: 2 }) as PreparedTransaction

  /** Returns a broadcaster whose sends end in these ways, one after the other, and the number of sends. */
  function broadcasterOf(...ends: readonly (Error | typeof HASH)[]) {
    let sends = 0
    const sendTransaction = async (): Promise<typeof HASH> => {
      const end = ends[sends++] ?? assert.fail('it was sent again')
      if (end instanceof Error) throw end
      return end
    }
    return { ...createBroadcaster({ address: ADDRESS, sendTransaction }, () => 1), sends: () => sends }
  }

  it('is not sent again, also when nobody knows what became of it', async () => {
    const good = broadcasterOf(HASH)
    for (const orderId of ['1', '2']) assert.equal(await good.broadcast(transaction('0xa001'), orderId), HASH)
    const lost = broadcasterOf(new Error('socket hang up'))
    const failure = async (): Promise<BroadcastError> => {
      const error: unknown = await lost.broadcast(transaction('0xa002'), '41').catch((reason: unknown) => reason)
      assert.ok(error instanceof BroadcastError && error.reason === 'unknown', String(error))
      return error
    }
    assert.match((await failure()).message, /socket hang up\. Look at order 41/)
    const again = await failure()
    assert.match(again.message, /an earlier attempt at it had no answer, .* once it has expired\. Look at order 41/)
    assert.deepEqual([lost.sends(), again.orderId], [1, '41'])
  })

  it('is sent again after a failure that surely sent nothing', async () => {
    const poor = broadcasterOf(new Error('insufficient funds for gas'), HASH)
    await assert.rejects(poor.broadcast(transaction('0xa003')), { reason: 'no_gas' })
    assert.equal(await poor.broadcast(transaction('0xa003')), HASH)
  })
})
