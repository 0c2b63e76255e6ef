import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createPublicClient, custom, InsufficientFundsError, NonceTooLowError, type Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import type { LocalChain } from './createLocalChain.ts'
import { toWord } from './jsonRpc.ts'
import { EMITTER, REVERTER, SENDER, createTestChain, mineEmits, signCall, signEmit } from './testing/testChain.ts'

// Returns code that reverts with everything after its first 12 bytes.
function codeRevertingWith(data: string): Hex {
  const length = (data.length / 2).toString(16).padStart(2, '0')
  return `0x60${length}600c60003960${length}6000fd${data}`
}

const ERROR_STRING =
  '08c379a0' + '20'.padStart(64, '0') + '05'.padStart(64, '0') + Buffer.from('too 5').toString('hex').padEnd(64, '0')

const PANIC = '4e487b71' + '11'.padStart(64, '0')

async function errorOf(call: Promise<unknown>): Promise<{ code: number; message: string; data: unknown }> {
  return call.then(
    () => assert.fail('it did not fail'),
    ({ code, message, data }: { code: number; message: string; data: unknown }) => ({ code, message, data }),
  )
}

function overrideCall(chain: LocalChain, code: Hex): Promise<unknown> {
  return chain.request('eth_call', [{ to: EMITTER }, 'latest', { [EMITTER]: { code } }])
}

test('a revert has code 3, geth words and the bytes as hex in data', async () => {
  const chain = await createTestChain()
  for (const method of ['eth_call', 'eth_estimateGas']) {
    const error = await errorOf(chain.request(method, [{ from: SENDER.address, to: REVERTER }, 'latest']))
    assert.deepEqual(error, { code: 3, message: 'execution reverted', data: '0xdeadbeef' })
  }
})

test('a reason text, a panic and an empty revert are told apart', async () => {
  const chain = await createTestChain()
  const text = await errorOf(overrideCall(chain, codeRevertingWith(ERROR_STRING)))
  assert.deepEqual(text, { code: 3, message: 'execution reverted: too 5', data: `0x${ERROR_STRING}` })
  const panic = await errorOf(overrideCall(chain, codeRevertingWith(PANIC)))
  assert.match(panic.message, /^execution reverted: panic code 0x11/)
  assert.equal(panic.data, `0x${PANIC}`)
  assert.deepEqual(await errorOf(overrideCall(chain, '0x60006000fd')), {
    code: 3,
    message: 'execution reverted',
    data: '0x',
  })
})

test('running out of gas and a bad opcode are no reverts', async () => {
  const chain = await createTestChain()
  const loop = chain.request('eth_call', [
    { to: EMITTER, gas: '0x7530' },
    'latest',
    { [EMITTER]: { code: '0x5b600056' } },
  ])
  const outOfGas = await errorOf(loop)
  assert.deepEqual([outOfGas.code, outOfGas.message.startsWith('out of gas')], [-32000, true])
  const invalid = await errorOf(overrideCall(chain, '0xfe'))
  assert.deepEqual([invalid.code, /invalid opcode/.test(invalid.message), invalid.data], [-32000, true, undefined])
})

test('an unknown method is -32601, bad params are -32602, and neither echoes the request', async () => {
  const chain = await createTestChain()
  const unknown = await errorOf(chain.request('foo_bar', ['x']))
  assert.deepEqual(unknown, {
    code: -32601,
    message: 'the method foo_bar does not exist/is not available',
    data: undefined,
  })
  const bad = await errorOf(chain.request('eth_getBalance', ['0x12']))
  assert.deepEqual([bad.code, bad.data], [-32602, undefined])
})

test('refused transactions are worded as wallets expect', async () => {
  const chain = await createTestChain()
  const raw = await signEmit(0)
  await chain.request('eth_sendRawTransaction', [raw])
  assert.match((await errorOf(chain.request('eth_sendRawTransaction', [raw]))).message, /^already known/)
  await chain.mine()
  await mineEmits(chain, 1, 1)
  const low = await signCall(0, REVERTER)
  assert.match((await errorOf(chain.request('eth_sendRawTransaction', [low]))).message, /^nonce too low/)
  for (const malformed of [[], [''], ['0x'], ['0x1'], ['0x12zz'], ['0x1234'], [5], [null], [{}], ['0x02c0']]) {
    const { code } = await errorOf(chain.request('eth_sendRawTransaction', malformed))
    assert.equal(code, -32602, JSON.stringify(malformed))
  }
})

test('viem recognises the failures', async () => {
  const chain = await createTestChain()
  await mineEmits(chain, 1)
  const client = createPublicClient({
    transport: custom(
      { request: ({ method, params }) => chain.request(method, params as unknown[]) },
      { retryCount: 0 },
    ),
  })
  const account = SENDER.address
  const sendLow = client.sendRawTransaction({ serializedTransaction: await signCall(0, REVERTER) })
  await assert.rejects(sendLow, /nonce too low/)
  await assert.rejects(client.call({ account, to: REVERTER }), /execution reverted/i)
  const poorRaw = await signCall(0, EMITTER, '0x', privateKeyToAccount(toWord(99)))
  const poor = client.sendRawTransaction({ serializedTransaction: poorRaw })
  assert.equal(InsufficientFundsError.nodeMessage.test((await errorOf(poor)).message.toLowerCase()), true)
  assert.equal(NonceTooLowError.nodeMessage.test((await errorOf(sendLow)).message.toLowerCase()), true)
})

test('what the chain does not serve says why', async () => {
  const chain = await createTestChain()
  assert.match((await errorOf(chain.request('eth_sendTransaction', [{}]))).message, /holds no keys/)
  assert.match((await errorOf(chain.request('hardhat_reset', []))).message, /not served/)
  assert.match((await errorOf(chain.request('evm_setAutomine', [true]))).message, /own timer/)
  assert.match((await errorOf(chain.request('eth_subscribe', ['newHeads']))).message, /WebSocket/)
})
