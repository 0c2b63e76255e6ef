import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Missing, TransactionRequest } from '@bezel/protocol/wire'
import { decodeFunctionData, encodeAbiParameters, parseAbi, toFunctionSelector, type Hex } from 'viem'
import { BezelApiError } from '../errors/serviceErrors.ts'
import type { OutgoingTransaction, TransactionSender } from '../senders/transactionSender.ts'
import { approve, createApprovals, missingAllowance, withRoom, type Approvals } from './approve.ts'

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
    await assert.rejects(approve({ sender, collateral: 'USDT', amount: '1' }, DOMAIN), {
      code: 'UNKNOWN_COLLATERAL',
      message: /no collateral USDT on this chain; it has DAI, USDC\.$/,
    })
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

  it('asks a node again that is away while the approval is on its way, and says so before it is sent', async () => {
    let looks = 0
    const allowance = selector('allowance(address,address)')
    const shaky = wallet()
    const { call } = shaky
    const away: TransactionSender['call'] = async (to, data) => {
      if (data.startsWith(allowance)) looks += 1
      if (looks === 2) throw new Error('away')
      return call!(to, data)
    }
    await approve({ sender: { ...shaky, call: away }, collateral: 'USDC', amount: '61.8', pollMs: 1 }, DOMAIN)
    assert.deepEqual([looks, shaky.sent.length], [3, 1])
    const dead = wallet({ call: () => Promise.reject(new Error('away')) })
    await assert.rejects(approve({ sender: dead, collateral: 'USDC', amount: '1' }, DOMAIN), {
      name: 'BezelNodeError',
      message: /no answer to eth_call of getCollaterals at 0xd1d1.* \(away\)/,
    })
    assert.equal(dead.sent.length, 0)
  })

  it('says so when the chain does not show it in time', async () => {
    const sender = wallet({}, false)
    const late = approve({ sender, collateral: 'USDC', amount: '50', timeoutMs: 5, pollMs: 1 }, DOMAIN)
    await assert.rejects(late, { code: 'APPROVAL_TIMEOUT', txHash: `0x${'77'.repeat(32)}` })
    await approve({ sender, collateral: 'USDC', amount: '50', timeoutMs: 0 }, DOMAIN)
  })
})

describe('remedies', () => {
  const AGENT = `0x${'b2'.repeat(20)}` as const
  const approvals = (own: TransactionSender | undefined = wallet()): Approvals =>
    createApprovals({ domain: async () => DOMAIN, own, ownAgent: () => ({ address: AGENT }), trader: () => TRADER })
  const text = { code: 'SIMULATION_REVERTED', message: '', remedy: '' }
  const noTokens = { collateral: null, needed: null, available: null }
  const tokens = { collateral: 'USDC', needed: '61.8', available: '0' }
  const balance: Missing = { ...text, ...tokens, kind: 'balance', transaction: null }
  const delegation = (agent: string): Missing => {
    const data = `${selector('setTradingDelegate(address)')}${agent.slice(2).padStart(64, '0')}` as Hex
    const transaction = { to: DOMAIN.verifyingContract, data, chainId: DOMAIN.chainId }
    return { ...text, ...noTokens, kind: 'delegation', transaction }
  }
  async function allowance(change: Partial<TransactionRequest> = {}): Promise<Missing> {
    const made = await approvals().prepareApprove({ collateral: 'USDC', amount: '61.8' })
    const transaction = { ...made, ...change }
    return { ...text, ...tokens, kind: 'allowance', transaction }
  }

  it('are made without the service, and passed on when they are exactly that', async () => {
    const { to, data, chainId } = await approvals().prepareApprove({ collateral: 'USDC', amount: '61.8' })
    assert.deepEqual([to, chainId], [USDC, DOMAIN.chainId])
    assert.equal(decodeFunctionData({ abi: ERC20, data }).args[1], 61_800_000n)
    const missing = [balance, await allowance(), delegation(AGENT)]
    assert.deepEqual(await approvals().remedies({ missing }), missing)
    const other = `0x${'c3'.repeat(20)}` as const
    assert.equal((await approvals().remedies({ missing: [delegation(other)] }, { agent: other })).length, 1)
  })

  it('are not sent by anybody but the trader', async () => {
    const stranger = wallet({ address: AGENT })
    const approval = { collateral: 'USDC', amount: '1', timeoutMs: 0 }
    await assert.rejects(approvals().approve({ sender: stranger, ...approval }), {
      name: 'BezelConfigError',
      code: 'WRONG_SENDER',
      message: new RegExp(`${AGENT}, but the trader is ${TRADER}`),
    })
    const trader = wallet()
    await approvals().approve({ sender: trader, ...approval })
    // Nobody said who the trader is.
    const unnamed = { domain: async () => DOMAIN, own: undefined, ownAgent: () => ({ address: AGENT }) }
    await createApprovals({ ...unnamed, trader: () => undefined }).approve({ sender: stranger, ...approval })
    assert.deepEqual([trader.sent.length, stranger.sent.length], [1, 1])
  })

  it('are refused when they do anything else', async () => {
    const unlimited = (await approvals().prepareApprove({ collateral: 'USDC', amount: '1000000' })).data
    const changes: readonly [Partial<TransactionRequest>, string][] = [
      [{ to: DAI }, 'to'],
      [{ chainId: 1 }, 'chainId'],
      [{ data: unlimited }, 'data'],
    ]
    for (const [change, field] of changes) {
      const refused = approvals().remedies({ missing: [await allowance(change)] })
      await assert.rejects(refused, { name: 'UnverifiedTransactionError', field })
    }
    const disguised = { ...(await allowance()), ...noTokens, kind: 'scope' } as never
    await assert.rejects(approvals().remedies({ missing: [disguised] }), { code: 'UNKNOWN_COLLATERAL' })
    const stranger = approvals().remedies({ missing: [delegation(TRADER)] })
    await assert.rejects(stranger, { name: 'UnverifiedTransactionError', field: 'data' })
    const { call: _, ...blind } = wallet()
    const unread = approvals(blind).remedies({ missing: [await allowance()] })
    await assert.rejects(unread, { code: 'SENDER_CANNOT_READ' })
    assert.equal((await approvals(blind).remedies({ missing: [await allowance()] }, { sender: wallet() })).length, 1)
  })
})

describe('withRoom', () => {
  it('adds a percent, rounded up to the decimals that the amount has', () => {
    const amounts = ['112.250057', '1', '0.000001', '100', '3.500']
    assert.deepEqual(amounts.map(withRoom), ['113.372558', '2', '0.000002', '101', '3.535'])
  })
})

describe('missingAllowance', () => {
  const refused = (code: string, details: Record<string, unknown>): BezelApiError =>
    new BezelApiError({ code, message: '', details, status: 422 })
  const lacking = { collateral: 'USDC', needed: '61.8', approvalTx: { to: DAI, data: '0x12', chainId: 1 } }

  it('names token and amount of a refusal, and takes nothing else from it', () => {
    assert.deepEqual(missingAllowance(refused('SIMULATION_REVERTED', lacking)), { collateral: 'USDC', amount: '62.5' })
  })

  it('is undefined for anything else', () => {
    const { approvalTx: _, ...poor } = lacking
    assert.equal(missingAllowance(refused('SIMULATION_REVERTED', poor)), undefined)
    assert.equal(missingAllowance(refused('UNSUPPORTED', lacking)), undefined)
    assert.equal(missingAllowance(refused('SIMULATION_REVERTED', { ...lacking, needed: 5 })), undefined)
    assert.equal(missingAllowance(new Error('no')), undefined)
  })
})
