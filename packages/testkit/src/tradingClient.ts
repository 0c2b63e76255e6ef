import assert from 'node:assert/strict'
import type { AgentScope, Order, PreparedTransaction, SigningDomain } from '@bezel/protocol'
import { createWalletClient, type Hex } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { authorization, call, send, signedHeaders, type Answer } from './agentClient.ts'
import { patientHttp, type ChainClient } from './chainClient.ts'
import type { RunningDevnet } from './startDevnet.ts'
import { until } from './until.ts'
import { BUSY, untilSettled } from './untilSettled.ts'

const CHAIN_PATH = '/v1/arbitrum-sepolia'

/**
 * An agent of one trader, used as an integrator's program does: signs requests, broadcasts prepared transactions, reads
 * orders.
 */
export interface TradingClient {
  readonly trader: PrivateKeyAccount
  readonly agent: PrivateKeyAccount
  /** Sends a signed request; `path` is the part after the chain. */
  request(operation: string, method: string, path: string, body?: unknown): Promise<Answer>
  /** Prepares an order and asserts success. Tries again while the service says that it is not ready. */
  prepare(body: Record<string, unknown>): Promise<{ order: Order; transaction: PreparedTransaction }>
  /** Signs and sends a prepared transaction. Returns its hash once it is mined. Throws when it had another outcome. */
  broadcast(transaction: PreparedTransaction, outcome?: 'success' | 'reverted'): Promise<Hex>
  submit(id: string, txHash: Hex): Promise<Answer>
  order(id: string): Promise<Order>
  /** Waits until the order is as the test expects. */
  orderOnce(id: string, isExpected: (order: Order) => boolean): Promise<Order>
  /** Prepares, broadcasts and reports an order, and waits for a status. */
  trade(body: Record<string, unknown>, status: Order['status']): Promise<Order>
  /** Reads a part of the account. Tries again while the node lags behind its store. */
  account(path: string, operation: string): Promise<Answer>
}

/** Creates a client. Calls `url` for every request, because a restarted service has another port. */
export async function createTradingClient(
  of: {
    readonly devnet: RunningDevnet
    readonly chain: ChainClient
    readonly url: () => string
  },
  trader: PrivateKeyAccount,
  agent: PrivateKeyAccount,
): Promise<TradingClient> {
  const domain = await domainOf(of.url())
  const wallet = createWalletClient({
    account: agent,
    transport: patientHttp(of.devnet.file.chains['arbitrum-sepolia']!.rpcUrl),
  })

  async function request(operation: string, method: string, path: string, body?: unknown): Promise<Answer> {
    const full = CHAIN_PATH + path
    const text = body === undefined ? undefined : JSON.stringify(body)
    const signed = { operation, method, path: full, ...(text === undefined ? {} : { body: text }) }
    const headers = await signedHeaders(domain, agent, signed)
    if (text === undefined) return call(of.url(), full, { method, headers })
    return call(of.url(), full, { method, headers: { ...headers, 'content-type': 'application/json' }, body: text })
  }

  const client: TradingClient = {
    trader,
    agent,
    request,
    async prepare(body) {
      const answer = await until('an order can be prepared', async (saw) => {
        const tried = await request('createOrder', 'POST', '/orders', body)
        saw(tried.body)
        return tried.status === 503 || tried.status === 502 ? undefined : tried
      })
      assert.equal(answer.status, 201, JSON.stringify(answer.body))
      return answer.body
    },
    async broadcast({ to, data, gas }, outcome = 'success') {
      const hash = await wallet.sendTransaction({
        to: to as Hex,
        data: data as Hex,
        ...(gas === null ? {} : { gas: BigInt(gas) }),
        chain: null,
      })
      const { status, gasUsed } = await of.chain.client.waitForTransactionReceipt({ hash })
      assert.equal(status, outcome, `transaction ${hash}, which used ${gasUsed} of ${gas} gas`)
      return hash
    },
    submit: (id, txHash) => untilSettled(() => request('submitOrder', 'POST', `/orders/${id}/submit`, { txHash })),
    async order(id) {
      const answer = await untilSettled(() => request('getOrder', 'GET', `/orders/${id}`))
      assert.equal(answer.status, 200, JSON.stringify(answer.body))
      return answer.body as Order
    },
    orderOnce: (id, isExpected) =>
      until(`order ${id} with ${isExpected}`, async (saw) => {
        const order = await client.order(id)
        saw(order)
        return isExpected(order) ? order : undefined
      }),
    async trade(body, status) {
      const { order, transaction } = await client.prepare(body)
      const hash = await client.broadcast(transaction)
      const submitted = await client.submit(order.id, hash)
      assert.equal(submitted.status, 200, JSON.stringify(submitted.body))
      return client.orderOnce(order.id, (now) => now.status === status)
    },
    account: (path, operation) => untilSettled(() => request(operation, 'GET', `/account/${trader.address}${path}`)),
  }
  return client
}

/** Registers the agent, and makes it the trader's delegate on the chain. */
export async function authorize(
  of: { readonly chain: ChainClient; readonly url: () => string },
  trader: PrivateKeyAccount,
  agent: PrivateKeyAccount,
  scope?: AgentScope,
): Promise<void> {
  const domain = await domainOf(of.url())
  const answer = await untilSettled(async () => {
    const body = await authorization(domain, trader, agent, scope === undefined ? {} : { scope })
    return send(of.url(), 'POST', `${CHAIN_PATH}/agents`, body)
  }, BUSY)
  assert.equal(answer.status, 201, JSON.stringify(answer.body))
  if (trader.address !== agent.address) await of.chain.send(trader, 'setTradingDelegate', [agent.address])
}

export async function domainOf(url: string): Promise<SigningDomain> {
  return (await call(url, CHAIN_PATH)).body.signing.domain as SigningDomain
}
