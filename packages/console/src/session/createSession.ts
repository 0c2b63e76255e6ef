import { batch, computed, signal, type ReadonlySignal, type Signal } from '@preact/signals'
import type { Signer } from '@bezel/sdk'
import type { ConsoleChain } from '../data/settings.ts'
import { readStored, writeStored, type KeyValueStore } from '../data/storage.ts'
import { problemOf, type Problem } from '../ground/problem.ts'
import type { KeyRing } from './keyRing.ts'
import type { WalletOption } from './provider.ts'
import { goToChain, listenTo, readAccounts, readChainId } from './walletLink.ts'

/** A wallet that is connected. */
export type ConnectedWallet = WalletOption

/** The state of the session: no wallet, one that is being connected, or the connected account. */
export type SessionState =
  | { readonly kind: 'none' }
  | { readonly kind: 'connecting'; readonly walletName: string }
  | {
      readonly kind: 'connected'
      readonly address: `0x${string}`
      readonly wallet: ConnectedWallet
      /** Id of the chain that the wallet is on; null while it is not known. */
      readonly walletChainId: number | null
      /** True when there is a read-only key, so that the account can be read. */
      readonly isSignedIn: boolean
      /** True when the wallet is on the active chain. */
      readonly isRightChain: boolean
      /** Why to sign in again, in a sentence, for instance because the key was ended in another tab; else null. */
      readonly signedOutBecause: string | null
    }

/** Parts of the page and of the service that a session needs. */
export interface SessionParts {
  readonly tab: KeyValueStore
  readonly keys: KeyRing
  /** The active chain; null until the settings are loaded. */
  readonly chain: ReadonlySignal<ConsoleChain | null>
  readonly issueKey: (trader: Signer, label: string) => Promise<string>
  readonly endKey: (trader: Signer, of: { readonly chain: string; readonly label: string }) => Promise<void>
  readonly signerOf: (wallet: ConnectedWallet, address: `0x${string}`) => Signer
  /** Tells something that concerns no button. */
  readonly tell: (told: { readonly tone: 'info' | 'warn'; readonly title: string; readonly body: string }) => void
}

/** The session of a tab: the wallet, its account, and the read-only key. */
export interface Session {
  readonly session: ReadonlySignal<SessionState>
  /** The read-only key of the account on the active chain; null while there is none. */
  readonly apiKey: ReadonlySignal<string | null>
  /** Grows whenever the account, the wallet or the active chain changes, so that an action of before is given up. */
  readonly epoch: ReadonlySignal<number>
  readonly problem: ReadonlySignal<Problem | null>
  /** Connects a wallet by asking its owner. */
  connect(option: WalletOption): Promise<void>
  /** Connects the wallet of before a reload without asking, once it is among the options. */
  restore(options: readonly WalletOption[]): Promise<void>
  /** Stops to wait for the wallet of before a reload. It is still connected if it appears later. */
  stopWaiting(): void
  signIn(): Promise<boolean>
  switchChain(): Promise<boolean>
  disconnect(): Promise<void>
  /** Forgets a key that the service does not accept any more. */
  keyRefused(apiKey: string): void
  /** Notes that another tab has ended the key. */
  keyEndedElsewhere(): void
  /** Notes that another chain is the active one. */
  chainChosen(): void
}

const WALLET = 'wallet'

const ENDED = 'Your key was ended, in another tab or under Agents > Keys. Sign in again with one signature.'
const ENDED_ELSEWHERE =
  'You disconnected in another tab, which ended the key of this browser. Sign in again to go on here.'

interface Link {
  readonly wallet: ConnectedWallet
  /** The chosen account; null while the wallet is locked. */
  readonly address: `0x${string}` | null
  readonly chainId: number | null
}

/** The inside of a session. */
interface Cell {
  readonly parts: SessionParts
  readonly link: Signal<Link | null>
  /** Name of the wallet that is being connected; null when none is. */
  readonly connecting: Signal<string | null>
  readonly because: Signal<string | null>
  readonly epoch: Signal<number>
  readonly problem: Signal<Problem | null>
  readonly apiKey: ReadonlySignal<string | null>
  /** Counts attempts to connect, so that only the last one counts. */
  attempt: number
  stopListening: () => void
}

/** Creates the session of a tab. */
export function createSession(parts: SessionParts): Session {
  const cell = createCell(parts)
  const { link, connecting, because, epoch, problem, apiKey } = cell
  let signingIn: Promise<boolean> | undefined
  return {
    session: computed(() => stateOf(cell)),
    apiKey,
    epoch,
    problem,
    switchChain: () => switchChain(cell),
    connect: (option) => open(cell, option, true),
    async restore(options) {
      const stored = storedWallet(parts.tab)
      if (stored === null || cell.attempt > 0 || link.peek() !== null) return
      const option = options.find(({ id }) => id === stored.id)
      if (option !== undefined) await open(cell, option, false)
    },
    stopWaiting() {
      if (cell.attempt === 0) connecting.value = null
    },
    signIn() {
      signingIn ??= askForKey(cell).finally(() => (signingIn = undefined))
      return signingIn
    },
    async disconnect() {
      const now = link.peek()
      cell.attempt += 1
      cell.stopListening()
      batch(() => {
        connecting.value = null
        problem.value = null
        change(cell, null)
      })
      writeStored(parts.tab, WALLET, null)
      if (now !== null && now.address !== null) await endKeys(parts, now.wallet, now.address)
    },
    keyRefused(refused) {
      const owner = ownerOf(cell)
      if (owner === null || refused !== apiKey.peek()) return
      parts.keys.drop(owner, false)
      because.value = ENDED
    },
    keyEndedElsewhere: () => void (because.value = ENDED_ELSEWHERE),
    chainChosen: () => void (epoch.value += 1),
  }
}

function createCell(parts: SessionParts): Cell {
  const link = signal<Link | null>(null)
  const apiKey = computed(() => {
    const [address, slug] = [link.value?.address ?? null, parts.chain.value?.slug]
    // Read for its changes: keys themselves are no signals.
    const isKnown = parts.keys.version.value >= 0
    if (!isKnown || address === null || slug === undefined) return null
    return parts.keys.keyOf({ chain: slug, trader: address })?.apiKey ?? null
  })
  return {
    parts,
    link,
    apiKey,
    connecting: signal(storedWallet(parts.tab)?.name ?? null),
    because: signal(null),
    epoch: signal(0),
    problem: signal(null),
    attempt: 0,
    stopListening: () => undefined,
  }
}

function stateOf({ parts, link, connecting, because, apiKey }: Cell): SessionState {
  if (connecting.value !== null) return { kind: 'connecting', walletName: connecting.value }
  const now = link.value
  if (now === null || now.address === null) return { kind: 'none' }
  const isSignedIn = apiKey.value !== null
  return {
    kind: 'connected',
    address: now.address,
    wallet: now.wallet,
    walletChainId: now.chainId,
    isSignedIn,
    isRightChain: now.chainId === parts.chain.value?.chainId,
    signedOutBecause: isSignedIn ? null : because.value,
  }
}

/** Takes another link. Another account or wallet ends what is under way. */
function change({ parts, link, epoch, because }: Cell, next: Link | null): void {
  const before = link.peek()
  const isOther = next?.address !== before?.address || next?.wallet !== before?.wallet
  batch(() => {
    link.value = next
    if (!isOther) return
    epoch.value += 1
    because.value = null
  })
  if (next !== null) writeStored(parts.tab, WALLET, { id: next.wallet.id, name: next.wallet.name })
}

/** Links a wallet. Without `ask` nobody is asked, and of a wallet that does not know the page nothing is shown. */
async function open(cell: Cell, wallet: WalletOption, ask: boolean): Promise<void> {
  cell.attempt += 1
  const mine = cell.attempt
  cell.connecting.value = wallet.name
  cell.problem.value = null
  try {
    const [address = null] = await readAccounts(wallet.provider, ask)
    const chainId = await readChainId(wallet.provider).catch(() => null)
    if (mine !== cell.attempt) return
    cell.stopListening()
    cell.stopListening = follow(cell, wallet)
    change(cell, { wallet, address, chainId })
    if (ask && address === null) throw new Error('The wallet named no account. Unlock it, and connect again.')
  } catch (error) {
    if (mine === cell.attempt) cell.problem.value = problemOf(error)
  } finally {
    if (mine === cell.attempt) cell.connecting.value = null
  }
}

/** Follows what the owner does in the wallet. Returns how to stop. */
function follow(cell: Cell, wallet: WalletOption): () => void {
  const { link, epoch, problem, parts } = cell
  return listenTo(wallet.provider, {
    onAccounts([address = null]) {
      const before = link.peek()
      if (before === null || before.address === address) return
      change(cell, { ...before, address })
      if (address === null) parts.tell({ tone: 'info', title: 'The wallet was locked', body: 'Unlock it to go on.' })
      else {
        const body = `This page is now about ${address}. What was under way was given up.`
        parts.tell({ tone: 'info', title: 'The account was switched in the wallet', body })
      }
    },
    onChain(chainId) {
      const before = link.peek()
      if (before === null) return
      problem.value = null
      change(cell, { ...before, chainId })
    },
    onDisconnect() {
      epoch.value += 1
      problem.value = problemOf(Object.assign(new Error('The wallet has lost its connection.'), { code: 4900 }))
    },
  })
}

/** Makes requests to the wallet, and keeps what goes wrong. Returns true when they succeeded for the same account. */
async function attended({ epoch, problem }: Cell, request: () => Promise<void>): Promise<boolean> {
  problem.value = null
  const since = epoch.peek()
  try {
    await request()
    return since === epoch.peek()
  } catch (error) {
    if (since === epoch.peek()) problem.value = problemOf(error)
    return false
  }
}

function switchChain(cell: Cell): Promise<boolean> {
  return attended(cell, async () => {
    const [now, wanted] = [cell.link.peek(), cell.parts.chain.peek()]
    if (now === null || wanted === null || now.chainId === wanted.chainId) return
    await goToChain(now.wallet.provider, wanted)
    const chainId = await readChainId(now.wallet.provider)
    const after = cell.link.peek()
    if (after?.wallet === now.wallet) change(cell, { ...after, chainId })
  })
}

/** Signs in: with the key of another tab, else with a new one, which is one signature. */
async function askForKey(cell: Cell): Promise<boolean> {
  const { keys, issueKey, signerOf } = cell.parts
  const owner = ownerOf(cell)
  const wallet = cell.link.peek()?.wallet
  if (owner === null || wallet === undefined) return false
  if (cell.apiKey.peek() !== null || (await keys.borrow(owner)) !== null) return true
  if (!(await switchChain(cell))) return false
  return attended(cell, async () => {
    const { label } = keys
    keys.keep(owner, { apiKey: await issueKey(signerOf(wallet, owner.trader), label), label })
    cell.because.value = null
  })
}

function ownerOf({ link, parts }: Cell): { readonly chain: string; readonly trader: `0x${string}` } | null {
  const [trader, chain] = [link.peek()?.address ?? null, parts.chain.peek()?.slug]
  return trader === null || chain === undefined ? null : { chain, trader }
}

/** Forgets the keys of an account, and ends them at the service as far as the wallet signs. */
async function endKeys(parts: SessionParts, wallet: ConnectedWallet, address: `0x${string}`): Promise<void> {
  const { keys } = parts
  const known = keys.keysOf(address)
  for (const { chain, trader } of known) keys.drop({ chain, trader }, true)
  try {
    for (const { chain, label } of known) await parts.endKey(parts.signerOf(wallet, address), { chain, label })
  } catch (error) {
    const { message, isRefusedByUser } = problemOf(error)
    const why = isRefusedByUser ? 'You did not sign its end.' : `Its end failed: ${message}`
    const body = `${why} It can only read, and stays listed under Agents > Keys as ${keys.label}.`
    parts.tell({ tone: 'warn', title: 'Disconnected, but the key goes on', body })
  }
}

function storedWallet(tab: KeyValueStore): { readonly id: string; readonly name: string } | null {
  const found = readStored(tab, WALLET) as { readonly id?: unknown; readonly name?: unknown } | null
  return typeof found?.id === 'string' ? { id: found.id, name: String(found.name) } : null
}

/** The error of an action whose account was switched meanwhile. */
export class AccountChangedError extends Error {
  override readonly name = 'AccountChangedError'
  readonly code = 'ACCOUNT_CHANGED'

  constructor() {
    super(
      'The account or chain was switched meanwhile, so this was given up. Nothing more is sent; begin again with the account you mean.',
    )
  }
}
