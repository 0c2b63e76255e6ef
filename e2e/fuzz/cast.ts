import type { Address, AgentScope, SigningDomain } from '@bezel/protocol'
import type { Hex } from 'viem'
import { privateKeyToAccount, type PrivateKeyAccount } from 'viem/accounts'
import assert from 'node:assert/strict'
import { authorization, UNLIMITED_SCOPE, revocation, send } from '@bezel/testkit/agentClient.ts'
import type { ChainClient } from '@bezel/testkit/chainClient.ts'
import type { DevnetFile } from '@bezel/testkit/startDevnet.ts'
import type { Random } from './random.ts'
import { keyOf, type Key } from './signer.ts'

/** Somebody who signs requests. */
export interface Actor {
  readonly name: string
  readonly key: Key
  /** The trader's address in lower case. */
  readonly trader: Address
  /**
   * The account; set only for actors who have gas and are the trader's delegate, so that their prepared orders can be
   * sent.
   */
  readonly account: PrivateKeyAccount | undefined
  readonly scope: AgentScope
}

/** Everybody who takes part in the fuzz. */
export interface Cast {
  readonly actors: readonly Actor[]
  /** Keys of wallets and agents that the fuzz registers and revokes. */
  readonly visitors: { readonly traders: readonly Key[]; readonly agents: readonly Key[] }
  readonly addresses: readonly string[]
}

const CHAIN_PATH = '/v1/arbitrum-sepolia'
const NARROW: AgentScope = {
  ...UNLIMITED_SCOPE,
  markets: ['BTC/USD', 'ETH/USD'],
  maxLeverage: '20',
  dailySpendCapUsd: '30000',
}
/** The life of a short-lived agent: long enough to be registered, over when the fuzz begins. */
const SHORT_LIFE_MS = 1_500

interface Setup {
  readonly url: string
  readonly chain: ChainClient
  readonly file: DevnetFile
  readonly domain: SigningDomain
  readonly random: Random
}

/** Registers agents of every scope and in every possible state. */
export async function gatherCast(setup: Setup): Promise<Cast> {
  const { chain, random } = setup
  const wallet = (name: string): Wallet =>
    walletOf(setup.file.accounts.find((account) => account.name === name)!.privateKey)
  const stranger = (): Wallet => walletOf(`0x${random.hex(32)}`)
  const register = (name: string, of: number, agent: Wallet, scope = UNLIMITED_SCOPE): Promise<Actor> =>
    registerActor(setup, { name, trader: wallet(`trader-${of}`).account, agent, scope })

  const trading = [
    await register('trader itself', 1, wallet('trader-1')),
    await register('capped trader', 4, wallet('trader-4'), { ...UNLIMITED_SCOPE, dailySpendCapUsd: '20000' }),
    await register('delegate', 2, wallet('agent-2')),
    await register('narrow delegate', 3, wallet('agent-3'), NARROW),
  ].map((actor) => ({ ...actor, account: chain.account(nameOf(setup.file, actor.key.address)) }))
  await chain.send(chain.account('trader-2'), 'setTradingDelegate', [trading[2]!.key.address])
  await chain.send(chain.account('trader-3'), 'setTradingDelegate', [trading[3]!.key.address])
  const others = [
    await register('revoked', 1, stranger()),
    await register('reader', 2, stranger(), { ...UNLIMITED_SCOPE, permissions: 'read' }),
    await register('undelegated', 1, stranger()),
    await register('expired', 3, stranger(), { ...UNLIMITED_SCOPE, expiresAt: Date.now() + SHORT_LIFE_MS }),
    actorOf({ name: 'unknown', trader: chain.account('trader-5'), agent: stranger(), scope: UNLIMITED_SCOPE }),
  ]
  const { address } = others[0]!.key
  const revoke = await revocation(setup.domain, chain.account('trader-1'), address, Date.now() + 1)
  assert.equal((await send(setup.url, 'DELETE', `${CHAIN_PATH}/agents/${address}`, revoke)).status, 200)
  const keys = (count: number): Key[] => Array.from({ length: count }, () => stranger().key)
  const actors = [...trading, ...others]
  const visitors = { traders: keys(3), agents: keys(5) }
  const named = [...actors.map(({ key }) => key), ...visitors.traders, ...visitors.agents].map((key) => key.address)
  const traders = actors.map(({ trader }) => trader)
  return { actors, visitors, addresses: [...named, ...traders, chain.diamond, `0x${'0'.repeat(40)}`] }
}

interface Wallet {
  readonly account: PrivateKeyAccount
  readonly key: Key
}

function walletOf(privateKey: Hex): Wallet {
  const account = privateKeyToAccount(privateKey)
  return { account, key: keyOf(account.address, privateKey) }
}

function nameOf({ accounts }: DevnetFile, address: string): string {
  return accounts.find((account) => account.address.toLowerCase() === address)!.name
}

interface Registration {
  readonly name: string
  readonly trader: PrivateKeyAccount
  readonly agent: Wallet
  readonly scope: AgentScope
}

async function registerActor({ url, domain }: Setup, of: Registration): Promise<Actor> {
  const body = await authorization(domain, of.trader, of.agent.account, { scope: of.scope })
  const answer = await send(url, 'POST', `${CHAIN_PATH}/agents`, body)
  assert.equal(answer.status, 201, JSON.stringify(answer.body))
  return actorOf(of)
}

function actorOf({ name, trader, agent, scope }: Registration): Actor {
  return { name, key: agent.key, trader: trader.address.toLowerCase() as Address, account: undefined, scope }
}
