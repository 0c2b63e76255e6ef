import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { decodeFunctionData, encodeAbiParameters, parseAbi, toFunctionSelector, type Hex } from 'viem'
import { BezelApiError } from '../errors/serviceErrors.ts'
import type { OutgoingTransaction, TransactionSender } from '../senders/transactionSender.ts'
import { approve, missingAllowance } from './approve.ts'

const DOMAIN = { name: 'Test', version: '1', chainId: 8453, verifyingContract: `0x${'d1'.repeat(20)}` } as const

const [DAI, USDC] = [`0x${'01'.repeat(20)}`, `0x${'02'.repeat(20)}`] as const

const TRADER = `0x${'a1'.repeat(20)}` as const

const ERC20 = parseAbi(['function approve(address spender, uint256 amount) returns (bool)'])

const selector = (signature: string): string => toFunctionSelector(`function ${signature}`)

/** A wallet on a chain whose Diamond has DAI and USDC. */
function wallet(
  more: Partial<TransactionSender> = {},
  isMined = true,
): TransactionSender & { readonly sent: OutgoingTransaction[] } {
  const sent: OutgoingTransaction[] = []
  const symbols: Readonly<Record<string, string>> = { [DAI]: 'DAI', [USDC]: 'USDC' }
  return {
    sent,
    address: TRADER,
    chainId: async () => DOMAIN.chainId,
    async sendTransaction(transaction) {
      sent.push(transaction)
      return `0x${'77'.repeat(32)}`
    },
    async call(to, data): Promise<Hex> {
      switch (data.slice(0, 10)) {
        case selector('symbol()'):
          return encodeAbiParameters([{ type: 'string' }], [symbols[to]!])
        case selector('decimals()'):
          return encodeAbiParameters([{ type: 'uint8' }], [to === USDC ? 6 : 18])
        case selector('allowance(address,address)'):
          return encodeAbiParameters([{ type: 'uint256' }], [isMined && sent.length > 0 ? 61_800_000n : 0n])
        default: {
          assert.equal(to, DOMAIN.verifyingContract)
          const token = [
            { type: 'address', name: 'collateral' },
            { type: 'bool', name: 'isActive' },
            { type: 'uint88', name: '__placeholder' },
            { type: 'uint128', name: 'precision' },
            { type: 'uint128', name: 'precisionDelta' },
          ] as const
          const listed = [DAI, USDC].map((collateral) => ({
            collateral,
            isActive: true,
            __placeholder: 0n,
            precision: 1n,
            precisionDelta: 1n,
          }))
          return encodeAbiParameters([{ type: 'tuple[]', components: token }], [listed])
        }
      }
    },
    ...more,
  }
}

describe('approve', () => {
  it("makes the approval from the chain's own word for the token, and waits until it is there", async () => {
    const sender = wallet()
    await approve({ sender, collateral: 'USDC', amount: '61.8', pollMs: 1 }, DOMAIN)
    const [{ to, data, value, chainId } = assert.fail()] = sender.sent
    assert.deepEqual([to, value, chainId], [USDC, 0n, DOMAIN.chainId])
    const { functionName, args } = decodeFunctionData({ abi: ERC20, data })
    assert.equal(functionName, 'approve')
    assert.equal(String(args[0]).toLowerCase(), DOMAIN.verifyingContract)
    assert.equal(args[1], 61_800_000n)
  })

  it('sends nothing for a token that the Diamond does not have, or an amount that the token can not have', async () => {
    const sender = wallet()
    await assert.rejects(approve({ sender, collateral: 'USDT', amount: '1' }, DOMAIN), { code: 'UNKNOWN_COLLATERAL' })
    for (const amount of ['-1', '0.0000001', 'all', '']) {
      await assert.rejects(approve({ sender, collateral: 'USDC', amount }, DOMAIN), { code: 'BAD_AMOUNT' }, amount)
    }
    const { call: _, ...blind } = wallet()
    await assert.rejects(approve({ sender: blind, collateral: 'USDC', amount: '1' }, DOMAIN), {
      code: 'SENDER_CANNOT_READ',
    })
    const elsewhere = wallet({ chainId: async () => 1 })
    await assert.rejects(approve({ sender: elsewhere, collateral: 'USDC', amount: '1' }, DOMAIN), {
      code: 'WRONG_CHAIN',
    })
    assert.deepEqual([sender.sent.length, elsewhere.sent.length], [0, 0])
  })

  it('says so when the chain does not show it in time', async () => {
    const sender = wallet({}, false)
    const late = approve({ sender, collateral: 'USDC', amount: '50', timeoutMs: 5, pollMs: 1 }, DOMAIN)
    await assert.rejects(late, { code: 'APPROVAL_TIMEOUT', txHash: `0x${'77'.repeat(32)}` })
    await approve({ sender, collateral: 'USDC', amount: '50', timeoutMs: 0 }, DOMAIN)
  })
})

describe('missingAllowance', () => {
  const refused = (code: string, details: Record<string, unknown>): BezelApiError =>
    new BezelApiError({ code, message: '', details, status: 422 })
  const lacking = { collateral: 'USDC', needed: '61.8', approvalTx: { to: DAI, data: '0x12', chainId: 1 } }

  it('names token and amount of a refusal, and takes nothing else from it', () => {
    assert.deepEqual(missingAllowance(refused('SIMULATION_REVERTED', lacking)), { collateral: 'USDC', amount: '61.8' })
  })

  it('is undefined for anything else', () => {
    const { approvalTx: _, ...poor } = lacking
    assert.equal(missingAllowance(refused('SIMULATION_REVERTED', poor)), undefined)
    assert.equal(missingAllowance(refused('UNSUPPORTED', lacking)), undefined)
    assert.equal(missingAllowance(refused('SIMULATION_REVERTED', { ...lacking, needed: 5 })), undefined)
    assert.equal(missingAllowance(new Error('no')), undefined)
  })
})
