import { FULL_SCOPE, type AgentScope, type AgentStatus } from '@bezel/sdk'
import { computed, effect, untracked, type ReadonlySignal } from '@preact/signals'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { agents } from '../data/account.ts'
import { activeChain, chainInfo } from '../data/chain.ts'
import { NotConnectedError, traderClient, tradingKey, type TradingKey } from '../data/client.ts'
import { tabStore } from '../data/storage.ts'
import { pushToast } from '../ui/toasts.ts'
import { createAgentStore, type StoredAgent } from './agentStore.ts'
import { coinsOf, localSender, sendCoins, sendRestBack } from './coins.ts'
import { walletSender, walletSigner } from './sender.ts'
import { epoch, guardEpoch, keyLabel, session } from './session.ts'

/** An agent whose key is in this tab, so that orders need no prompt. */
export interface SessionAgent {
  readonly address: `0x${string}`
  readonly trader: `0x${string}`
  readonly scope: AgentScope
  /** Name under which it is registered: `console-` and 6 hexadecimal digits. */
  readonly name: string
  /** `authorising`, `funding` and `delegating` wait for the wallet; `ready` trades. */
  readonly stage: StoredAgent['stage']
  /** State of it at the service; null while that is not known. */
  readonly status: AgentStatus | null
}

const store = createAgentStore(tabStore)

/** The stored agent of the active chain and account. */
const own = computed(() => {
  const now = session.value
  if (now.kind !== 'connected' || store.version.value < 0) return null
  return store.agentOf({ chain: activeChain.value, trader: now.address })
})

/** The session agent of the active chain and account; null when there is none. */
export const sessionAgent: ReadonlySignal<SessionAgent | null> = computed(() => {
  const [stored, now] = [own.value, session.value]
  if (stored === null || now.kind !== 'connected') return null
  const { address } = privateKeyToAccount(stored.privateKey)
  const status = agents.value?.find(({ agent }) => agent === address)?.status ?? null
  return { address, trader: now.address, scope: stored.scope, name: keyLabel, stage: stored.stage, status }
})

/** The signer of orders: the wallet, by prompts, or the session agent. */
export const activeSigner: ReadonlySignal<'wallet' | 'session'> = computed(() =>
  own.value?.stage === 'ready' && own.value.isActive ? 'session' : 'wallet',
)

/**
 * Address of who signs orders; null while nobody does, and for a wallet that is not registered as its own agent yet,
 * which the service does not know. Pass it to previews as `agent`.
 */
export const activeAgent: ReadonlySignal<`0x${string}` | null> = computed(() => {
  if (activeSigner.value === 'session') return sessionAgent.value?.address ?? null
  const now = session.value
  if (now.kind !== 'connected') return null
  return agents.value?.some(({ agent }) => agent === now.address) === true ? now.address : null
})

/** Chooses who signs orders. `session` needs a session agent that is ready. */
export function chooseSigner(signer: 'wallet' | 'session'): void {
  const stored = own.peek()
  if (stored !== null) keep({ ...stored, isActive: signer === 'session' })
}

/** Options of `createSessionAgent`. */
export interface SessionAgentOptions {
  readonly scope: Partial<AgentScope>
  /** Native coins that the wallet sends to it for gas, for instance `0.01`. Default: none. */
  readonly gas?: string
}

/**
 * Makes a session agent: a key in this tab, authorised by a signature of the wallet, paid gas and delegated by a
 * transaction each. Goes on where it stopped when it is called again. Call it in `runAction` with `needs: 'wallet'`.
 * Throws what the SDK throws.
 */
export async function createSessionAgent({ scope: wanted, gas }: SessionAgentOptions): Promise<SessionAgent> {
  const since = epoch.peek()
  const scope = { ...FULL_SCOPE, ...wanted }
  let stored = own.peek() ?? { privateKey: generatePrivateKey(), scope, stage: 'authorising', isActive: true }
  const step = (change: Partial<StoredAgent>): void => {
    guardEpoch(since)
    stored = { ...stored, ...change }
    keep(stored)
  }
  const account = privateKeyToAccount(stored.privateKey)
  if (stored.stage === 'authorising' || stored.stage === 'ready') {
    step({ stage: 'authorising', scope })
    await clientOfWallet().agents.authorize({ trader: walletSigner(), agent: account, name: keyLabel, scope })
    step({ stage: 'funding' })
  }
  if (stored.stage === 'funding') {
    if (gas !== undefined && coinsOf(gas) > 0n)
      await sendCoins(walletProvider(), walletSender().address, account.address, gas)
    step({ stage: 'delegating' })
  }
  await clientOfWallet().agents.delegate({ sender: walletSender(), agent: account.address })
  step({ stage: 'ready', isActive: true })
  return sessionAgent.peek()!
}

/** Ends the session agent: revokes it, removes the delegation and sends the rest of its gas back. Throws as the SDK. */
export async function endSessionAgent(): Promise<void> {
  const [stored, now] = [own.peek(), session.peek()]
  if (stored === null || now.kind !== 'connected') return
  const owner = { chain: activeChain.peek(), trader: now.address }
  const account = privateKeyToAccount(stored.privateKey)
  const sender = walletSender()
  const client = clientOfWallet()
  if (stored.stage !== 'authorising') {
    const { revocationTx } = await client.agents.revoke({ trader: walletSigner(), agent: account.address })
    keep({ ...stored, isActive: false })
    // Another agent may be the delegate by now, and must not lose that.
    const isDelegate = stored.stage === 'ready' && sessionAgent.peek()?.status !== 'pending_delegation'
    if (revocationTx !== null && isDelegate) await client.agents.undelegate({ sender, revocationTx })
  }
  await sendRestBack(localSender(stored.privateKey, nodeOf()), now.address).catch(() => undefined)
  store.write(owner, null)
}

/** Starts to choose the key that trades, and notices a session agent that has ended elsewhere. Returns how to stop. */
export function startSessionAgent(): () => void {
  let lastStatus: AgentStatus | null = null
  const stops = [
    effect(() => {
      // Read for its changes: senders and signers of before refuse to go on.
      const isConnected = epoch.value >= 0 && session.value.kind === 'connected'
      const [signer, stored] = [activeSigner.value, own.value]
      tradingKey.value = untracked(() => (isConnected ? keyOf(signer === 'session' ? stored : null) : null))
    }),
    effect(() => {
      const agent = sessionAgent.value
      const wasActive = lastStatus === 'active'
      lastStatus = agent?.status ?? null
      const isOver = lastStatus === 'revoked' || lastStatus === 'expired'
      const isReplaced = lastStatus === 'pending_delegation' && wasActive
      if (activeSigner.value === 'session' && (isOver || isReplaced)) untracked(() => tellEnded(lastStatus))
    }),
  ]
  return () => stops.forEach((stop) => stop())
}

function tellEnded(status: AgentStatus | null): void {
  chooseSigner('wallet')
  const why =
    status === 'expired' ? 'has expired' : status === 'revoked' ? 'was revoked' : 'is not the delegate any more'
  const body = `It ${why}. Orders are signed by the wallet again; make a new session agent for orders without prompts.`
  const link = { to: '/agents', label: 'Agents' }
  pushToast({ tone: 'warn', key: 'session-agent', title: 'The session agent has ended', body, link })
}

function keep(stored: StoredAgent): void {
  const now = session.peek()
  if (now.kind === 'connected') store.write({ chain: activeChain.peek(), trader: now.address }, stored)
}

/** Returns the key of the session agent, or of the wallet where there is none. */
function keyOf(agent: StoredAgent | null): TradingKey {
  const trader = walletSigner()
  if (agent === null) return { signer: trader, sender: walletSender(), trader: trader.address, isWallet: true }
  const sender = localSender(agent.privateKey, nodeOf()).sender
  return { signer: privateKeyToAccount(agent.privateKey), sender, trader: trader.address, isWallet: false }
}

/** Returns a client that acts as the wallet itself. */
function clientOfWallet(): ReturnType<typeof traderClient> {
  return traderClient(keyOf(null))
}

function walletProvider(): Parameters<typeof sendCoins>[0] {
  const now = session.peek()
  if (now.kind !== 'connected') throw new NotConnectedError()
  return now.wallet.provider
}

/** Returns the node that the session agent sends over: that of the sandbox, else that of the wallet. */
function nodeOf(): Parameters<typeof localSender>[1] {
  const rpcUrl = chainInfo.peek()?.rpcUrl ?? null
  return rpcUrl === null ? { provider: walletProvider() } : { rpcUrl }
}
