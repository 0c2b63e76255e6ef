import assert from 'node:assert/strict'
import {
  createBezelClient,
  privateKeySender,
  type BezelClient,
  type BezelClientOptions,
  type TransactionSender,
} from '@bezel/sdk'
import type { PrivateKeyAccount } from 'viem/accounts'
import { startTradingWorld, type TradingWorld, type TradingWorldOptions } from '@bezel/testkit/tradingWorld.ts'
import { PATIENCE_MS } from '@bezel/testkit/until.ts'

/** Options that poll often, since the local chain is fast. The timeout only ends a test that would hang. */
export const SOON = { pollMs: 40, timeoutMs: PATIENCE_MS }

/** Retries of clients: the node of a busy machine may not answer for a while, and the service then refuses to guess. */
const MAX_RETRIES = 60

/** Returns the error that a promise rejects with. */
export const failureOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => assert.fail('it did not fail'),
    (reason: unknown) => reason,
  )

export interface SdkAccount {
  readonly client: BezelClient
  readonly trader: PrivateKeyAccount
  readonly agent: PrivateKeyAccount
}

/** A local chain and the service, used through the SDK alone. */
export interface SdkWorld extends TradingWorld {
  readonly rpcUrl: string
  /** Returns a client for a named agent of the local chain and the trader of the same number. Sends nothing. */
  sdkClient(agent: string, options?: Partial<BezelClientOptions>): BezelClient
  /** Returns a sender of a named agent that counts the transactions it sends. */
  countingSender(agent: string): TransactionSender & { readonly count: () => number }
  /** Returns a client that is authorised and delegated. */
  sdkAccount(trader: string, agent: string): Promise<SdkAccount>
}

export async function startSdkWorld(options: TradingWorldOptions = {}): Promise<SdkWorld> {
  const world = await startTradingWorld(options)
  const { rpcUrl, diamond } = world.devnet.file.chains['arbitrum-sepolia']!
  const senderOf = (account: PrivateKeyAccount) => privateKeySender({ account, rpcUrl })
  const sdkClient: SdkWorld['sdkClient'] = (name, more = {}) => {
    const agent = world.chain.account(name)
    return createBezelClient({
      baseUrl: world.url(),
      chain: 'arbitrum-sepolia',
      agent,
      sender: senderOf(agent),
      trader: world.chain.account(name.replace('agent', 'trader')).address,
      diamond,
      maxRetries: MAX_RETRIES,
      ...more,
    })
  }
  return {
    ...world,
    rpcUrl,
    sdkClient,
    countingSender(name) {
      const sender = senderOf(world.chain.account(name))
      let count = 0
      return {
        ...sender,
        count: () => count,
        sendTransaction(transaction) {
          count += 1
          return sender.sendTransaction(transaction)
        },
      }
    },
    async sdkAccount(traderName, agentName) {
      const trader = world.chain.account(traderName)
      const client = sdkClient(agentName, { trader: trader.address })
      await client.agents.authorize({ trader, name: 'sdk' })
      await client.agents.delegate({ sender: senderOf(trader), ...SOON })
      return { client, trader, agent: world.chain.account(agentName) }
    },
  }
}
