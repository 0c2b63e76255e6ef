import { ClockSkewError, type BezelClient } from '@bezel/sdk'
import { computed, signal, type ReadonlySignal } from '@preact/signals'
import { agents, noteSent, recentOrders } from '../data/account.ts'
import {
  accountClient,
  NotConnectedError,
  publicClient,
  refusedKey,
  identity,
  traderClient,
  tradingKey,
} from '../data/client.ts'
import { isRefusal } from '../data/followAccount.ts'
import { ensureClock, measureClock, serverNow } from '../data/now.ts'
import { tabStore } from '../data/storage.ts'
import type { Problem } from '../ground/problem.ts'
import { pushToast } from '../ui/toasts.ts'
import { actionKey } from './actionKey.ts'
import { createActions, ShownProblemError, type ActionOptions, type ActionWork, type Needs } from './createActions.ts'
import { followInFlight } from './followInFlight.ts'
import { createInFlight, type InFlightOrder } from './inFlight.ts'
import { ensureOwnAgent } from './ownAgent.ts'
import { lookUp, placingOnce } from './placeOnce.ts'
import { epoch, session, sessionProblem, signIn, switchChain } from './session.ts'
import { activeSigner } from './sessionAgent.ts'

const inFlight = createInFlight(tabStore, serverNow)

/** Orders that an action of this page is placing now. */
const placing = signal<readonly string[]>([])

const shownAccount = computed(() => {
  const [client, known] = [accountClient.value, identity.value]
  return client === null || known === null ? null : { chain: client.chain, trader: known.trader }
})

/**
 * Orders of the account and this tab that may have been sent and whose outcome is not known, as after a reload or a
 * lost answer. Those that are being placed now are not among them.
 */
export const inFlightOrders: ReadonlySignal<readonly InFlightOrder[]> = computed(() => {
  const [owner, busy] = [shownAccount.value, placing.value]
  return inFlight.unclear.value.filter(
    ({ chain, trader, clientId }) => chain === owner?.chain && trader === owner.trader && !busy.includes(clientId),
  )
})

const actions = createActions({
  epoch,
  ready: makeReady,
  tell: pushToast,
  onFailure(error) {
    if (error instanceof ClockSkewError) void remeasure()
    if (isRefusal(error)) void checkKey()
  },
})

/**
 * Runs an action of the user. One at a time per name: a second click does nothing and returns undefined. A failure is
 * kept in `problemOfAction(name)` and undefined is returned. `guard` throws when the account was switched; call it
 * between two steps. `client` signs and sends as the active signer, and its `orders.create` and
 * `orders.prepareVerified` never place an order twice.
 */
export function runAction<Result>(
  name: string,
  work: ActionWork<Result>,
  options?: ActionOptions<Result>,
): Promise<Result | undefined> {
  return actions.runAction(name, work, options)
}

/** Returns whether an action of this name is under way. */
export const isBusy = (name: string): ReadonlySignal<boolean> => actions.isBusy(name)

/** Returns what went wrong with the last action of this name; null when nothing did. */
export const problemOfAction = (name: string): ReadonlySignal<Problem | null> => actions.problemOfAction(name)

/** Forgets what went wrong with an action, for instance because its form was changed. */
export const clearProblem = (name: string): void => actions.clearProblem(name)

/** Brings about what an action needs, and returns its client. */
async function makeReady(needs: Needs, guard: () => void): Promise<BezelClient> {
  const now = session.peek()
  if (now.kind !== 'connected') throw new NotConnectedError()
  await ensureClock(publicClient.peek())
  const isByWallet = needs !== 'read' && (needs === 'wallet' || activeSigner.peek() === 'wallet')
  if (isByWallet && !now.isRightChain) await requireStep(switchChain())
  if (needs !== 'wallet' && !now.isSignedIn) await requireStep(signIn())
  guard()
  const key = tradingKey.peek()
  if (key === null) throw new NotConnectedError()
  if (needs === 'trade' && key.isWallet) {
    const readAgents = async () => (await accountClient.peek()?.account.get())?.agents ?? []
    await ensureOwnAgent({ client: traderClient(key), trader: key.signer, known: agents.peek(), readAgents })
    guard()
  }
  return createActionClient(key)
}

/** Creates the client of one action. */
function createActionClient(key: NonNullable<typeof tradingKey.value>): BezelClient {
  let sending: string | null = null
  const watched = actionKey(key, {
    onSending: () => sending !== null && inFlight.mark(sending, { stage: 'sending' }),
    onSent: () => sending !== null && inFlight.mark(sending, { stage: 'sent' }),
  })
  return placingOnce({
    client: traderClient(watched),
    trader: key.trader,
    inFlight,
    newClientId: () => `console-${crypto.randomUUID()}`,
    expectSending(clientId) {
      const others = placing.peek().filter((other) => other !== sending)
      placing.value = clientId === null ? others : [...others, clientId]
      sending = clientId
    },
    onPlaced({ id, txHash }) {
      if (txHash !== null) noteSent(id, { txHash, atMs: serverNow() })
    },
    wait: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  })
}

/** Throws the problem of the session when a step of it failed. */
async function requireStep(step: Promise<boolean>): Promise<void> {
  if (await step) return
  const problem = sessionProblem.peek()
  throw problem === null ? new NotConnectedError() : new ShownProblemError(problem)
}

/** Measures the clock again after a signature was too old or too new. */
async function remeasure(): Promise<void> {
  await measureClock(publicClient.peek()).catch(() => undefined)
}

/** Finds out whether it was the read-only key that was refused: a signature is refused with the same codes. */
async function checkKey(): Promise<void> {
  const apiKey = identity.peek()?.apiKey
  try {
    await accountClient.peek()?.account.events({ after: Number.MAX_SAFE_INTEGER, limit: 1 })
  } catch (error) {
    if (isRefusal(error) && apiKey !== undefined) refusedKey.value = apiKey
  }
}

/** Starts to follow the orders whose outcome was not known, and says what became of them. Returns how to stop. */
export function startActions(): () => void {
  return followInFlight({
    inFlight,
    orders: recentOrders,
    account: shownAccount,
    isPlacing: (clientId) => placing.peek().includes(clientId),
    lookUp: async (clientId) => {
      const client = accountClient.peek()
      return client === null ? undefined : lookUp(client, clientId)
    },
    tell: pushToast,
  })
}
