import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { CHAINS, diamondAbi, type Address } from '@bezel/protocol'
import { decodeFunctionData, encodeAbiParameters, erc20Abi, pad, type Hex } from 'viem'
import type { ChainAgents } from '../agents/chainAgents.ts'
import { createDelegates } from '../agents/delegates.ts'
import type { RpcCall, RpcClient } from '../chain/rpcClient.ts'
import type { RpcOutcome } from '../chain/rpcOutcome.ts'
import type { ServedChain } from '../chain/servedChain.ts'
import { chainMarkets } from '../market/testing/fixtures.ts'
import { until } from '../testing/until.ts'
import { createAccounts, startAccounts } from './startAccounts.ts'

const ALICE = '0x00000000000000000000000000000000000000A1' as Address
const AGENT = '0x0000000000000000000000000000000000000aBc' as Address
const DIAMOND = CHAINS.base.liveDiamond
const { collaterals } = chainMarkets()

/** A node with a Diamond and tokens of which everybody has 5 units. */
function createNode(fee: (amount: bigint) => RpcOutcome = (amount) => word(amount)) {
  const node = { batches: 0, referrer: 0n, isAway: false }
  const answer = ({ params }: RpcCall): RpcOutcome => {
    const { to, data } = params[0] as { to: Address; data: Hex }
    if (to !== DIAMOND) return word(decodeFunctionData({ abi: erc20Abi, data }).functionName === 'balanceOf' ? 5n : 7n)
    const { functionName, args } = decodeFunctionData({ abi: diamondAbi, data })
    if (functionName === 'getTradingDelegate') return { ok: true, result: pad(AGENT as Hex) }
    if (functionName === 'getTraderActiveReferrer') return word(node.referrer)
    assert.equal(functionName, 'calculateFeeAmount')
    return fee((args as readonly [Address, bigint])[1])
  }
  const client: RpcClient = {
    roundTrips: () => node.batches,
    async batch(calls) {
      node.batches += 1
      return node.isAway
        ? calls.map(() => ({ ok: false, code: -1, message: 'away', data: undefined }))
        : calls.map(answer)
    },
  }
  return { node, client }
}

function word(value: bigint): RpcOutcome {
  return { ok: true, result: encodeAbiParameters([{ type: 'uint256' }], [value]) }
}

function agentsOver(client: RpcClient, now: () => number): ChainAgents {
  const chain = { slug: 'base', diamond: DIAMOND } as ServedChain
  const delegates = createDelegates({ client, diamond: DIAMOND, maxAgeMs: 2_000, now })
  return { chain, client, delegates } as ChainAgents
}

describe('accounts', () => {
  it('reads everything in one round trip, and not again before the setting', async () => {
    const { node, client } = createNode()
    let nowMs = 1_000_000
    const agents = agentsOver(client, () => nowMs)
    const accounts = createAccounts(agents, 2_000, () => nowMs)
    const [holdings, same] = await Promise.all([
      accounts.holdings(ALICE, collaterals),
      accounts.holdings(ALICE, collaterals),
    ])
    assert.equal(holdings, same)
    assert.deepEqual(holdings.balances[1], { collateral: 'USDC', balance: '0.000005', allowance: '0.000007' })
    assert.deepEqual([holdings.delegate, holdings.referrer, holdings.feeTierMultiplier], [AGENT, null, '1'])
    assert.equal(agents.delegates.known(ALICE), AGENT)

    nowMs += 1_999
    await accounts.holdings(ALICE, collaterals)
    assert.equal(node.batches, 1)
    nowMs += 1
    await accounts.holdings(ALICE, collaterals)
    assert.equal(node.batches, 2)
    accounts.forget(ALICE)
    await accounts.holdings(ALICE, collaterals)
    assert.equal(node.batches, 3)
  })

  it('shows the multiplier of the fee at any precision, and none where the Diamond has no tiers', async () => {
    const multiplierOf = async (fee: (amount: bigint) => RpcOutcome) => {
      const { client } = createNode(fee)
      const accounts = createAccounts(agentsOver(client, Date.now), 2_000, Date.now)
      return (await accounts.holdings(ALICE, collaterals)).feeTierMultiplier
    }
    assert.equal(await multiplierOf((amount) => word((amount * 975n) / 1_000n)), '0.975')
    assert.equal(await multiplierOf((amount) => word((amount * 975n * 980n) / 1_000_000n)), '0.9555')
    const reverts: RpcOutcome = { ok: false, code: 3, message: 'execution reverted', data: '0xa932492f' }
    assert.equal(await multiplierOf(() => reverts), null)
    const fails: RpcOutcome = { ok: false, code: -32_005, message: 'too many requests', data: undefined }
    await assert.rejects(
      multiplierOf(() => fails),
      /too many requests/,
    )
  })

  it('asks again after a failure', async () => {
    const { node, client } = createNode()
    const accounts = createAccounts(agentsOver(client, Date.now), 2_000, Date.now)
    node.isAway = true
    await assert.rejects(accounts.holdings(ALICE, collaterals))
    node.isAway = false
    node.referrer = BigInt(AGENT)
    assert.equal((await accounts.holdings(ALICE, collaterals)).referrer, AGENT)
  })

  it('keeps the delegates of active traders fresh in the background, until it is closed', async () => {
    const { node, client } = createNode()
    const agents = agentsOver(client, Date.now)
    await agents.delegates.read(ALICE)
    const logged: unknown[] = []
    const log = { error: (line: unknown) => void logged.push(line) } as never
    const running = startAccounts({
      chains: [agents.chain],
      agentsOf: () => agents,
      refreshMs: 5,
      now: Date.now,
      log,
    })
    await until('a few rounds', () => node.batches > 3)
    node.isAway = true
    const before = node.batches
    await until('a few rounds without a node', () => node.batches > before + 3)
    running.close()
    assert.deepEqual(logged, [])
    const last = node.batches
    await new Promise((resolve) => setTimeout(resolve, 30))
    assert.ok(node.batches <= last + 1)
  })
})
