import { readFileSync } from 'node:fs'
import type { RunningDevnet } from '@bezel/testkit/startDevnet.ts'
import { patientHttp } from '@bezel/testkit/chainClient.ts'
import type { BrowserContext } from 'playwright-core'
import { createWalletClient, toHex, type Hex, type TypedDataDefinition } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'

/** Name under which the wallet announces itself. */
export const WALLET_NAME = 'Test Wallet'

const INJECTED = readFileSync(new URL('injectedWallet.js', import.meta.url), 'utf8')

/** Methods for which a wallet opens its window, and a user says yes or no. */
const PROMPTS = new Set([
  'eth_requestAccounts',
  'eth_signTypedData_v4',
  'personal_sign',
  'eth_sendTransaction',
  'wallet_switchEthereumChain',
  'wallet_addEthereumChain',
])

const REFUSED = { code: 4001, message: 'User rejected the request.' }
const UNSUPPORTED = { code: 4200, message: 'The wallet does not support the method.' }
const LOST = { code: -32_603, message: 'The wallet lost its connection.' }
const UNKNOWN_CHAIN = { code: 4902, message: 'Unrecognized chain ID.' }

/** The wallet of a browser, in the hands of the test. All pages of the browser share it. */
export interface ExtensionWallet {
  /** Methods that opened the wallet's window, in their order. */
  readonly prompts: readonly string[]
  /** Declines the next prompt of a method. */
  refuseNext(method: string): void
  /** Keeps the next prompt of a method open until it is answered. */
  holdNext(method: string): HeldPrompt
  /** Loses the answer to the next transaction: it is sent, and the page hears of an error. */
  loseNextAnswer(): void
  /** Switches to another account, as a user does in the wallet, and tells all pages. */
  switchAccount(account: PrivateKeyAccount): Promise<void>
  /** Switches to another chain, and tells all pages. */
  switchChain(chainId: number): Promise<void>
}

/** A prompt that waits for its user. */
export interface HeldPrompt {
  /** Resolves when it is open. */
  readonly opened: Promise<void>
  answer(): void
}

interface WalletError {
  readonly code: number
  readonly message: string
}

interface Asked {
  readonly method: string
  readonly params: readonly unknown[]
}

/** A transaction as a page passes it to its wallet. */
interface PageTransaction {
  readonly to: Hex
  readonly data?: Hex
  readonly gas?: Hex
  readonly value?: Hex
}

/** Windows that the wallet opens. Each is answered at once unless the test has planned something else for it. */
interface Prompts extends Pick<ExtensionWallet, 'prompts' | 'refuseNext' | 'holdNext'> {
  /** Opens a window and throws when the user declines. */
  open(method: string): Promise<void>
}

/** The mind of a wallet: who it signs for, and where it is. */
interface WalletState {
  account: PrivateKeyAccount
  chainId: number
  isConnected: boolean
  losesAnswer: boolean
  readonly knownChains: Set<number>
}

type Answers = Readonly<Record<string, (params: readonly unknown[]) => unknown>>

/** Installs the wallet into a browser. It signs with the given account and sends to the node of the local chain. */
export async function installWallet(
  context: BrowserContext,
  devnet: RunningDevnet,
  account: PrivateKeyAccount,
): Promise<ExtensionWallet> {
  const { rpcUrl, chainId } = devnet.file.chains['arbitrum-sepolia']!
  const state = { account, chainId, knownChains: new Set([chainId]), isConnected: false, losesAnswer: false }
  const prompts = createPrompts()

  async function tell(name: string, value: unknown): Promise<void> {
    const told = `globalThis.tellTestWallet?.(${JSON.stringify(name)}, ${JSON.stringify(value)})`
    await Promise.all(context.pages().map((page) => page.evaluate(told)))
  }
  async function goTo(chain: number): Promise<null> {
    if (chain === state.chainId) return null
    state.chainId = chain
    await tell('chainChanged', toHex(chain))
    return null
  }
  const answers = answersOf(state, rpcUrl, goTo)

  async function ask(text: string): Promise<string> {
    const { method, params } = JSON.parse(text) as Asked
    try {
      if (PROMPTS.has(method)) await prompts.open(method)
      const answer = answers[method]
      if (answer === undefined && method.startsWith('wallet_')) throw walletError(UNSUPPORTED)
      const result = await (answer === undefined ? askNode(rpcUrl, method, params) : answer(params))
      return JSON.stringify({ result })
    } catch (error) {
      return JSON.stringify({ error: errorOf(error) })
    }
  }

  await context.exposeFunction('askTestWallet', ask)
  await context.addInitScript(INJECTED)
  return {
    ...prompts,
    loseNextAnswer: () => void (state.losesAnswer = true),
    async switchAccount(other) {
      state.account = other
      await tell('accountsChanged', [other.address])
    },
    async switchChain(other) {
      state.knownChains.add(other)
      await goTo(other)
    },
  }
}

/** Creates the answers to the methods that the wallet itself answers; a node answers the others. */
function answersOf(state: WalletState, rpcUrl: string, goTo: (chainId: number) => Promise<null>): Answers {
  const accounts = (): string[] => (state.isConnected ? [state.account.address] : [])
  const chainIdOf = (params: readonly unknown[]): number => Number((params[0] as { chainId: Hex }).chainId)
  return {
    eth_requestAccounts() {
      state.isConnected = true
      return accounts()
    },
    eth_accounts: accounts,
    eth_chainId: () => toHex(state.chainId),
    eth_signTypedData_v4: (params) => state.account.signTypedData(typedData(String(params[1]))),
    async eth_sendTransaction(params) {
      const { to, data = '0x', gas, value = '0x0' } = params[0] as PageTransaction
      const wallet = createWalletClient({ account: state.account, transport: patientHttp(rpcUrl) })
      const limit = gas === undefined ? {} : { gas: BigInt(gas) }
      const hash = await wallet.sendTransaction({ to, data, value: BigInt(value), chain: null, ...limit })
      if (!state.losesAnswer) return hash
      state.losesAnswer = false
      throw walletError(LOST)
    },
    wallet_switchEthereumChain(params) {
      if (!state.knownChains.has(chainIdOf(params))) throw walletError(UNKNOWN_CHAIN)
      return goTo(chainIdOf(params))
    },
    wallet_addEthereumChain(params) {
      state.knownChains.add(chainIdOf(params))
      return null
    },
  }
}

function createPrompts(): Prompts {
  const prompts: string[] = []
  const plans: { readonly method: string; readonly open: () => Promise<WalletError | undefined> }[] = []
  return {
    prompts,
    refuseNext: (method) => void plans.push({ method, open: () => Promise.resolve(REFUSED) }),
    holdNext(method) {
      const opened = Promise.withResolvers<void>()
      const decided = Promise.withResolvers<undefined>()
      const open = (): Promise<undefined> => {
        opened.resolve()
        return decided.promise
      }
      plans.push({ method, open })
      return { opened: opened.promise, answer: () => decided.resolve(undefined) }
    },
    async open(method) {
      prompts.push(method)
      const place = plans.findIndex((plan) => plan.method === method)
      const [plan] = place < 0 ? [] : plans.splice(place, 1)
      const refusal = await plan?.open()
      if (refusal !== undefined) throw walletError(refusal)
    },
  }
}

/** Reads the second parameter of eth_signTypedData_v4. viem adds the fields of the domain by itself. */
function typedData(text: string): TypedDataDefinition {
  const { types, ...rest } = JSON.parse(text) as TypedDataDefinition & { types: Record<string, unknown> }
  const own = Object.fromEntries(Object.entries(types).filter(([name]) => name !== 'EIP712Domain'))
  return { ...rest, types: own } as TypedDataDefinition
}

/** Passes a read on to the node. */
async function askNode(rpcUrl: string, method: string, params: readonly unknown[]): Promise<unknown> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  const answer = await fetch(rpcUrl, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  const { result, error } = (await answer.json()) as { result?: unknown; error?: WalletError }
  if (error !== undefined) throw walletError(error)
  return result
}

function walletError(of: WalletError): Error & WalletError {
  return Object.assign(new Error(of.message), { code: of.code })
}

function errorOf(error: unknown): WalletError {
  const { code, message } = error as Partial<WalletError>
  return { code: typeof code === 'number' ? code : -32_603, message: message ?? String(error) }
}
