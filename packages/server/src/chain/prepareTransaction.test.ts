import { NodeUnavailableError } from '../ground/unavailable.ts'
import {
  CONTRACT_ERRORS,
  diamondAbi,
  errorsAbi,
  type Address,
  type ApiError,
  type ContractErrorName,
  type Hex,
} from '@bezel/protocol'
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { encodeAbiParameters, encodeErrorResult, encodeFunctionData, erc20Abi, parseAbi, type Abi } from 'viem'
import { ok, reverted, scriptedNode, uint, type ScriptedNode } from '../orders/testing/scriptedNode.ts'
import { startStandInNode } from '@bezel/testkit/standInNode.ts'
import { createRpcClient } from './providers/provider.ts'
import type { RpcOutcome } from './rpcClient.ts'
import { prepareTransaction, type TransactionDraft } from './prepareTransaction.ts'

const TRADER = `0x${'1'.repeat(40)}` as Address
const AGENT = `0x${'2'.repeat(40)}` as Address
const TOKEN = `0x${'c'.repeat(40)}` as Address
const DRAFT: TransactionDraft = {
  chainId: 42_161,
  diamond: `0x${'d'.repeat(40)}` as Address,
  trader: TRADER,
  agent: AGENT,
  inner: '0x1234' as Hex,
  data: '0x737b84cd' as Hex,
  takes: { symbol: 'USDC', token: TOKEN, decimals: 6, amount: 600_000_000n, returned: 0n },
}
const WRONG_LEVERAGE = encodeErrorResult({ abi: diamondAbi, errorName: 'WrongLeverage' })

async function refusal(
  node: ScriptedNode,
  draft = DRAFT,
): Promise<Pick<ApiError, 'code' | 'message'> & { readonly details: Record<string, unknown> }> {
  const error = await prepareTransaction(node, draft, { onDelegate: () => undefined }).then(
    () => assert.fail('it passed'),
    (thrown: unknown) => thrown,
  )
  return error as never
}

function nodeWith(simulation: RpcOutcome): ScriptedNode {
  return Object.assign(scriptedNode(AGENT), { simulation })
}

describe('prepareTransaction', () => {
  it('asks everything in one batch', async () => {
    const node = scriptedNode(AGENT)
    const delegates: Address[] = []
    const { gas } = await prepareTransaction(node, DRAFT, { onDelegate: (delegate) => delegates.push(delegate) })
    assert.equal(gas, '300002')
    assert.equal(delegates.length, 1)
    assert.deepEqual(
      node.batches.map((calls) => calls.map(({ method }) => method)),
      [['eth_call', 'eth_estimateGas', 'eth_call', 'eth_call', 'eth_call']],
    )
  })

  it('asks neither for the delegate of itself nor for a token that is not taken', async () => {
    const node = scriptedNode(AGENT)
    await prepareTransaction(
      node,
      { ...DRAFT, agent: TRADER, takes: null },
      { onDelegate: () => assert.fail('there is no delegate') },
    )
    assert.equal(node.batches[0]!.length, 2)
  })

  it('lets the wrong delegate be refused before the revert it causes', async () => {
    const refused = new Error('not the delegate')
    const onDelegate = (): never => {
      throw refused
    }
    const trying = prepareTransaction(nodeWith(reverted('0x')), DRAFT, { onDelegate })
    await assert.rejects(trying, refused)
  })

  it('reads the custom error wherever the node puts it', async () => {
    for (const data of [WRONG_LEVERAGE, { data: WRONG_LEVERAGE }, `Reverted ${WRONG_LEVERAGE}`]) {
      const { code, details } = await refusal(nodeWith(reverted(data)))
      assert.equal(code, 'SIMULATION_REVERTED')
      const { cause, remedy } = CONTRACT_ERRORS.WrongLeverage
      assert.deepEqual(details, { errorName: 'WrongLeverage', cause, remedy, calldata: '0x1234' })
    }
  })

  it('says every error of the contracts in the words of the table', async () => {
    for (const entry of errorsAbi) {
      const { name, inputs }: { name: ContractErrorName; inputs: readonly { readonly type: string }[] } = entry
      const args = inputs.map(({ type }) => (type === 'uint8' ? 1 : type === 'address' ? AGENT : '0x'))
      const data = encodeErrorResult({ abi: [entry] as Abi, errorName: name, args })
      const { message, details } = await refusal(nodeWith(reverted(data)))
      const { words, cause, remedy } = CONTRACT_ERRORS[name]
      assert.equal(message, `The contracts would revert with ${name}. ${words} ${cause} ${remedy}`)
      assert.deepEqual(details, { errorName: name, cause, remedy, calldata: '0x1234' })
    }
  })

  it('names the errors of Solidity and of tokens', async () => {
    const abi = parseAbi(['error Error(string)', 'error Panic(uint256)'])
    const text = encodeErrorResult({ abi, errorName: 'Error', args: ['ERC20: no'] })
    const withText = await refusal(nodeWith(reverted(text)))
    assert.deepEqual(withText.details, { errorName: 'Error', calldata: '0x1234', reason: 'ERC20: no' })
    assert.match(withText.message, /ERC20: no/)
    const panic = encodeErrorResult({ abi, errorName: 'Panic', args: [17n] })
    assert.equal((await refusal(nodeWith(reverted(panic)))).details.reason, '17')
    const args = [AGENT, 1n, 2n] as const
    const token = parseAbi(['error ERC20InsufficientAllowance(address, uint256, uint256)'])
    const allowance = encodeErrorResult({ abi: token, errorName: 'ERC20InsufficientAllowance', args })
    assert.equal((await refusal(nodeWith(reverted(allowance)))).details.errorName, 'ERC20InsufficientAllowance')
  })

  it('says so when nobody knows the error, or there is none', async () => {
    assert.equal((await refusal(nodeWith(reverted('0xdeadbeef00')))).details.errorName, '0xdeadbeef')
    assert.equal((await refusal(nodeWith(reverted('0x')))).details.errorName, null)
    assert.equal((await refusal(nodeWith(reverted(undefined)))).details.errorName, null)
    const bare = { ok: false, code: -32000, message: 'execution reverted', data: undefined } as const
    assert.equal((await refusal(nodeWith(bare))).details.errorName, null)
    // The selector of a known error with invalid arguments.
    assert.equal((await refusal(nodeWith(reverted('0x08c379a0ffff')))).details.errorName, '0x08c379a0')
  })

  it('says which token is missing and how much', async () => {
    const node = nodeWith(reverted('0x'))
    node.allowance = uint(5_500_000n)
    const allowance = await refusal(node)
    assert.match(allowance.message, /600 USDC are needed, but the trader's allowance for the Diamond is 5\.5 USDC\./)
    node.balance = uint(1n)
    const both = await refusal(node)
    assert.match(both.message, /balance is 0\.000001 USDC and the trader's allowance .* is 5\.5 USDC/)
    assert.deepEqual(both.details, {
      errorName: null,
      calldata: '0x1234',
      collateral: 'USDC',
      needed: '600',
      balance: '0.000001',
      allowance: '5.5',
      remedy:
        "Pay 599.999999 USDC or more into the trader's wallet, and let the trader send approvalTx: an approval alone does not help.",
      approvalTx: {
        to: TOKEN,
        data: encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [DRAFT.diamond, 600_000_000n] }),
        chainId: 42_161,
      },
    })
  })

  it("leaves the Diamond's own errors their words, whatever is missing besides", async () => {
    const node = nodeWith(reverted(WRONG_LEVERAGE))
    node.allowance = uint(0n)
    const { message, details } = await refusal(node)
    assert.match(message, /^The contracts would revert with WrongLeverage\. The leverage/)
    assert.deepEqual([details.errorName, details.needed, details.approvalTx], ['WrongLeverage', undefined, undefined])
    const text = parseAbi(['error Error(string)', 'error InsufficientBalance()'])
    for (const data of [
      encodeErrorResult({ abi: text, errorName: 'Error', args: ['ERC20: insufficient allowance'] }),
      encodeErrorResult({ abi: text, errorName: 'InsufficientBalance' }),
      '0xdeadbeef',
    ]) {
      node.simulation = reverted(data)
      assert.equal((await refusal(node)).details.needed, '600', data)
    }
  })

  it('brings an approval only where the allowance is short', async () => {
    const node = nodeWith(reverted('0x'))
    node.balance = uint(1n)
    const { message, details } = await refusal(node)
    assert.match(
      message,
      /600 USDC are needed, but the trader's balance is 0\.000001 USDC\. Pay 599\.999999 USDC or more into the trader's wallet\.$/,
    )
    assert.equal(details.approvalTx, undefined)
  })

  it('counts what the transaction itself gives back as balance, and never as allowance', async () => {
    const node = nodeWith(reverted('0x'))
    const draft = { ...DRAFT, takes: { ...DRAFT.takes!, returned: 500_000_000n } }
    node.balance = uint(100_000_000n)
    assert.equal((await refusal(node, draft)).details.needed, undefined)
    node.balance = uint(99_999_999n)
    assert.equal((await refusal(node, draft)).details.balance, '99.999999')
    node.balance = uint(100_000_000n)
    node.allowance = uint(599_999_999n)
    const { message, details } = await refusal(node, draft)
    assert.match(
      message,
      /600 USDC are needed, but the trader's allowance for the Diamond is 599\.999999 USDC\. The trader sends/,
    )
    assert.equal((details.approvalTx as { to: string }).to, TOKEN)
  })

  it('reads more in the same round trip, and tells it before it refuses', async () => {
    const node = nodeWith(reverted(WRONG_LEVERAGE))
    const heard: (readonly RpcOutcome[])[] = []
    const alongside = {
      calls: [{ method: 'eth_getTransactionReceipt', params: ['0x1'] }],
      take: (outcomes: readonly RpcOutcome[]) => void heard.push(outcomes),
    }
    node.receipt = 'read'
    await assert.rejects(prepareTransaction(node, DRAFT, { onDelegate: () => undefined, alongside }))
    await assert.rejects(
      prepareTransaction(node, { ...DRAFT, takes: null, agent: TRADER }, { onDelegate: () => undefined, alongside }),
    )
    assert.deepEqual(heard, [[ok('read')], [ok('read')]])
    assert.equal(node.roundTrips(), 2)
  })

  it('does not blame the token when it has enough, or says nonsense', async () => {
    const node = nodeWith(reverted(WRONG_LEVERAGE))
    node.balance = uint(600_000_000n)
    node.allowance = uint(600_000_000n)
    assert.equal((await refusal(node)).details.needed, undefined)
    node.allowance = ok('0x')
    assert.equal((await refusal(node)).details.needed, undefined)
    node.allowance = { ok: false, code: 1, message: 'no', data: undefined }
    assert.equal((await refusal(node)).details.needed, undefined)
  })

  it("calls a node's own trouble by its name, and never a revert", async () => {
    const troubles: RpcOutcome[] = [
      { ok: false, code: -32005, message: 'rate limit exceeded', data: undefined },
      { ok: false, code: -32000, message: 'header not found', data: {} },
      ok(null),
      ok(17),
      ok('bytes'),
    ]
    for (const trouble of troubles) assert.ok((await refusal(nodeWith(trouble))) instanceof NodeUnavailableError)
    const away = Object.assign(scriptedNode(AGENT), { isAway: true })
    assert.ok((await refusal(away)) instanceof NodeUnavailableError)
  })

  it('does not wait for a node that hangs, nor believe one that talks nonsense', async () => {
    const standIn = await startStandInNode(() => {
      throw 'this is no JSON'
    })
    try {
      const client = createRpcClient({ url: standIn.url, timeoutMs: 200 })
      await assert.rejects(prepareTransaction(client, DRAFT, { onDelegate: () => undefined }), NodeUnavailableError)
      standIn.answer = () => encodeAbiParameters([{ type: 'uint256' }], [0n])
      // The delegate is the zero address; `onDelegate` decides what that means.
      await prepareTransaction(client, DRAFT, { onDelegate: (delegate) => assert.equal(BigInt(delegate), 0n) })
      standIn.answer = () => '0x'
      await assert.rejects(prepareTransaction(client, DRAFT, { onDelegate: () => undefined }), NodeUnavailableError)
    } finally {
      await standIn.close()
    }
    const gone = createRpcClient({ url: standIn.url, timeoutMs: 200 })
    await assert.rejects(prepareTransaction(gone, DRAFT, { onDelegate: () => undefined }), NodeUnavailableError)
  })

  it('rounds gas up', async () => {
    const node = scriptedNode(AGENT)
    for (const [estimate, gas] of [
      ['0x1', '2'],
      ['0x2', '3'],
      ['0x5208', '31500'],
    ]) {
      node.estimate = ok(estimate)
      assert.deepEqual(await prepareTransaction(node, DRAFT, { onDelegate: () => undefined }), { gas })
    }
  })
})
