import { EventEmitter } from 'node:events'
import { numberToHex, type Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import type { Eip1193Provider, WalletOption } from '../provider.ts'

/** Keys of the wallets of tests. */
export const KEYS = [`0x${'11'.repeat(32)}`, `0x${'22'.repeat(32)}`] as const

/** An extension wallet in a test, with a user who can be told what to do. */
export interface FakeWallet {
  readonly option: WalletOption
  readonly prompts: string[]
  /** Replaces the answer to a method: a value, or an error to throw. Undefined gives the wallet its own answer back. */
  answer(method: string, answer: (() => unknown) | undefined): void
  switchAccount(place: number): void
  lock(): void
  unlock(): void
  switchChain(chainId: number): void
  readonly address: Hex
}

const PROMPTS = [
  'eth_requestAccounts',
  'eth_signTypedData_v4',
  'eth_sendTransaction',
  'wallet_switchEthereumChain',
  'wallet_addEthereumChain',
]

/** Returns the error of a user who says no. */
export function refusal(code = 4001): Error {
  return Object.assign(new Error('User rejected the request.'), { code })
}

/** Creates a wallet that is on a chain and has not met the page yet. */
export function createFakeWallet(chainId: number, { id = 'org.test', isKnown = false } = {}): FakeWallet {
  const events = new EventEmitter()
  const state = { place: 0, chainId, isKnown, isLocked: false }
  const account = () => privateKeyToAccount(KEYS[state.place]!)
  const answers = new Map<string, (() => unknown) | undefined>()
  const prompts: string[] = []
  const accounts = (): Hex[] => (state.isKnown && !state.isLocked ? [account().address] : [])
  const provider: Eip1193Provider = {
    async request({ method, params }) {
      if (PROMPTS.includes(method)) prompts.push(method)
      const planned = answers.get(method)
      if (planned !== undefined) return planned()
      const [first, second] = (params ?? []) as readonly unknown[]
      switch (method) {
        case 'eth_requestAccounts':
          state.isKnown = true
          return accounts()
        case 'eth_accounts':
          return accounts()
        case 'eth_chainId':
          return numberToHex(state.chainId)
        case 'wallet_switchEthereumChain':
          state.chainId = Number((first as { readonly chainId: Hex }).chainId)
          events.emit('chainChanged', numberToHex(state.chainId))
          return null
        case 'eth_signTypedData_v4':
          return account().signTypedData(JSON.parse(String(second)))
        default:
          throw Object.assign(new Error(`no ${method}`), { code: 4200 })
      }
    },
    on: (event, listener) => events.on(event, listener as (payload: unknown) => void),
    removeListener: (event, listener) => events.removeListener(event, listener as (payload: unknown) => void),
  }
  return {
    option: { id, name: 'Test', icon: null, kind: 'extension', provider },
    prompts,
    answer: (method, answer) => void answers.set(method, answer),
    switchAccount(place) {
      state.place = place
      events.emit('accountsChanged', accounts())
    },
    lock() {
      state.isLocked = true
      events.emit('accountsChanged', [])
    },
    unlock() {
      state.isLocked = false
      events.emit('accountsChanged', accounts())
    },
    switchChain(next) {
      state.chainId = next
      events.emit('chainChanged', numberToHex(next))
    },
    get address() {
      return account().address
    },
  }
}
