import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { custom, encodeErrorResult, parseAbi, type Hex } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { BezelConfigError } from '../errors/bezelError.ts'
import { BezelNodeError, BroadcastError } from '../errors/broadcastError.ts'
import { CHAIN_ID, DIAMOND, TRADER } from '../testing/sampleFacts.ts'
import { requireTraderSender, sendFrom } from './sendFrom.ts'
import { privateKeySender, type TransactionSender } from './transactionSender.ts'

const HASH = `0x${'77'.repeat(32)}` as const

const ORDER_ID = '41'

const account = privateKeyToAccount(generatePrivateKey())

/** An error as a node answers it. */
class NodeRefusal extends Error {
  readonly code: number
  readonly data: unknown

  constructor(code: number, message: string, data?: unknown) {
    super(message)
    this.code = code
    this.data = data
  }
}

const WRONG_LEVERAGE = encodeErrorResult({ abi: parseAbi(['error WrongLeverage()']), errorName: 'WrongLeverage' })

/** The answers of a node on which everything goes well. */
const GOOD = {
  eth_chainId: `0x${CHAIN_ID.toString(16)}`,
  eth_getTransactionCount: '0x0',
  eth_getBlockByNumber: { number: '0x1', baseFeePerGas: '0x1', transactions: [] },
  eth_maxPriorityFeePerGas: '0x1',
  eth_estimateGas: '0x5208',
  eth_sendRawTransaction: HASH,
}

/** Returns viem's own sender over a node of these answers. An error among them is one of the node. */
function senderOver(answers: Partial<Record<keyof typeof GOOD, unknown>>): TransactionSender {
  const node: Readonly<Record<string, unknown>> = { ...GOOD, ...answers }
  const request = async ({ method }: { readonly method: string }): Promise<unknown> => {
    const answer = node[method] ?? new NodeRefusal(-32_601, `the method ${method} does not exist`)
    if (answer instanceof Error) throw answer
    return answer
  }
  return privateKeySender({ account, transport: custom({ request }, { retryCount: 0 }) })
}

const send = (sender: TransactionSender, gas: string | null = null): Promise<Hex> =>
  sendFrom(sender, { to: DIAMOND, data: '0x1234', chainId: CHAIN_ID, gas }, ORDER_ID)

async function failure(sender: TransactionSender, gas?: string): Promise<BroadcastError> {
  const error: unknown = await send(sender, gas).catch((reason: unknown) => reason)
  assert.ok(error instanceof BroadcastError, String(error))
  assert.equal(error.orderId, ORDER_ID)
  return error
}

describe('sending over a node', () => {
  it('gives the hash of what the node took', async () => {
    assert.equal(await send(senderOver({})), HASH)
    assert.equal(await send(senderOver({ eth_estimateGas: new Error('not asked') }), '90000'), HASH)
  })

  it('says who can not pay for the gas, whether that shows in the estimate or in the send', async () => {
    const unpaid = new NodeRefusal(-32_000, 'insufficient funds for gas * price + value: balance 0, tx cost 5')
    const capped = new NodeRefusal(-32_000, 'gas required exceeds allowance (0)')
    const failures = [
      await failure(senderOver({ eth_sendRawTransaction: unpaid }), '90000'),
      await failure(senderOver({ eth_estimateGas: unpaid })),
      await failure(senderOver({ eth_estimateGas: capped })),
    ]
    for (const { reason, message, errorName } of failures) {
      assert.deepEqual([reason, errorName], ['no_gas', undefined])
      assert.ok(message.includes(`not sent: ${account.address} has too little of the native coin`), message)
    }
  })

  it('names the error of the contracts and explains it, wherever the node puts its bytes', async () => {
    const texts = [WRONG_LEVERAGE, { data: WRONG_LEVERAGE }, { originalError: { data: `Reverted ${WRONG_LEVERAGE}` } }]
    for (const data of texts) {
      const reverted = new NodeRefusal(3, 'execution reverted', data)
      const { reason, errorName, message } = await failure(senderOver({ eth_estimateGas: reverted }))
      assert.deepEqual([reason, errorName], ['reverted', 'WrongLeverage'])
      assert.match(message, /not sent: the contracts would revert with WrongLeverage\. The leverage is not allowed\. /)
    }
    const bare = await failure(senderOver({ eth_estimateGas: new NodeRefusal(3, 'execution reverted') }))
    assert.deepEqual([bare.reason, bare.errorName], ['reverted', undefined])
    // A token may choose words that look like those of an account without gas.
    const said = encodeErrorResult({
      abi: parseAbi(['error Error(string)']),
      errorName: 'Error',
      args: ['insufficient funds'],
    })
    const refusal = new NodeRefusal(3, 'execution reverted: insufficient funds', said)
    const told = await failure(senderOver({ eth_estimateGas: refusal }))
    assert.deepEqual([told.reason, told.errorName], ['reverted', 'Error'])
    assert.match(told.message, /They say: insufficient funds$/)
  })

  it('takes bytes for those of a revert only where the failure speaks of one', async () => {
    const wallet = (failed: Error): TransactionSender => ({
      address: account.address,
      async sendTransaction() {
        throw failed
      },
    })
    const revert = { code: 3, message: 'execution reverted', data: WRONG_LEVERAGE }
    const reverts = [
      new NodeRefusal(-32_000, 'execution reverted', WRONG_LEVERAGE),
      new NodeRefusal(-32_603, 'Internal JSON-RPC error.', revert),
      new NodeRefusal(-32_603, 'Internal JSON-RPC error.', { originalError: revert }),
      new NodeRefusal(-32_015, 'VM execution error.', `Reverted ${WRONG_LEVERAGE}`),
    ]
    for (const error of reverts) {
      const { reason, errorName } = await failure(wallet(error))
      assert.deepEqual([reason, errorName], ['reverted', 'WrongLeverage'], JSON.stringify(error))
    }
    const unclear = [
      new NodeRefusal(-32_000, 'already known', HASH),
      new NodeRefusal(-32_000, 'timeout waiting for the receipt', { data: HASH }),
      new NodeRefusal(-32_000, 'it was sent and may be reverted', HASH),
      new NodeRefusal(-32_603, 'Internal JSON-RPC error.', WRONG_LEVERAGE),
    ]
    for (const error of unclear) assert.equal((await failure(wallet(error))).reason, 'unknown', error.message)
  })

  it('knows when the owner of a wallet said no', async () => {
    const declined = Object.assign(new Error('User rejected the request.'), { code: 4001 })
    const wallet = { address: account.address, sendTransaction: () => Promise.reject(declined) }
    assert.equal((await failure(wallet)).reason, 'declined')
  })

  it('does not say that nothing was sent when a node gives no answer', async () => {
    const silent = senderOver({ eth_sendRawTransaction: new Error('socket hang up') })
    const { reason, message, cause } = await failure(silent)
    assert.equal(reason, 'unknown')
    assert.match(message, /could not be sent: .*socket hang up\. Look at order 41 before .* may have taken it\.$/)
    assert.ok(cause instanceof Error)
    const loop = new Error('around')
    loop.cause = loop
    const wallet = { address: account.address, sendTransaction: () => Promise.reject(loop) }
    assert.equal((await failure(wallet)).reason, 'unknown')
  })

  it('tells a node that is away before anything is sent', async () => {
    const away = senderOver({ eth_chainId: new Error('connect ECONNREFUSED') })
    const error: unknown = await send(away).catch((reason: unknown) => reason)
    assert.ok(error instanceof BezelNodeError, String(error))
    assert.deepEqual([error.code, error.retryable], ['NODE_FAILED', true])
    assert.match(error.message, /no answer to eth_chainId \(.*ECONNREFUSED\)\. Nothing was sent\./)
    assert.ok(error.cause instanceof Error)
    await assert.rejects(send(senderOver({ eth_chainId: '0x1' })), { name: 'WrongChainError', found: 1 })
  })
})

describe('a sender', () => {
  it('of the trader is the trader, in any spelling', () => {
    const sender = { address: account.address, sendTransaction: async () => HASH }
    requireTraderSender(sender, account.address.toLowerCase())
    assert.throws(
      () => requireTraderSender(sender, TRADER),
      (error) => {
        assert.ok(error instanceof BezelConfigError && error.code === 'WRONG_SENDER')
        assert.ok(error.message.includes(account.address) && error.message.includes(TRADER), error.message)
        return true
      },
    )
  })

  it('of a key needs a node', () => {
    for (const rpcUrl of [undefined, '', 'localhost:8545', 'ws://127.0.0.1:8545']) {
      const make = (): TransactionSender => privateKeySender({ account, rpcUrl: rpcUrl as string })
      assert.throws(make, { code: 'BAD_RPC_URL', message: /rpcUrl/ }, rpcUrl)
    }
    assert.equal(privateKeySender({ account, rpcUrl: 'http://127.0.0.1:8545' }).address, account.address)
  })
})
