import type { BezelClient, NewOrder, OrderPreview, VerifiedOrder } from '@bezel/sdk'
import { signal, type ReadonlySignal } from '@preact/signals'
import { accountClient } from '../data/client.ts'
import { clearProblem, runAction } from '../session/act.ts'
import { session } from '../session/session.ts'
import { activeAgent, activeSigner, sessionAgent } from '../session/sessionAgent.ts'
import { pushToast } from '../ui/toasts.ts'
import { hasGas } from './node.ts'
import { isOrderable } from './reviewRules.ts'

/** Names of the actions of the ticket, by which its buttons find out whether they run and what went wrong. */
export const ACTIONS = { review: 'ticket-review', prepare: 'ticket-prepare', send: 'ticket-send' } as const

/** An order under review: what it would do, and the transaction once it is prepared and verified. */
export interface Review {
  readonly request: NewOrder
  readonly preview: OrderPreview
  /** True when the account that sends has no coins for gas. */
  readonly lacksGas: boolean
  readonly verified: VerifiedOrder | null
}

const current = signal<Review | null>(null)

/** The order under review; null while the ticket is being filled in. */
export const review: ReadonlySignal<Review | null> = current

/**
 * Counts the reviews that were asked for and ended. An answer that comes after the order was sent or left is not shown:
 * it would look like one more order to send.
 */
let turn = 0

/** Ends the review, and those that are still asked for. */
function endReview(): void {
  turn += 1
  current.value = null
}

/**
 * Asks the service once what an order would do. Where nothing is missing, the order is prepared and verified too, so
 * that the decoded transaction is seen before the wallet is asked to send it. `cured` names what was missing before and
 * is not any more: the service may be a block behind the chain, so it is asked again until it knows.
 */
export async function reviewOrder(request: NewOrder, cured?: string): Promise<void> {
  clearProblems()
  let own = turn
  const found = await runAction(
    ACTIONS.review,
    async (client, guard) => {
      own = turn += 1
      const agent = activeAgent.peek()
      const ask = () => readerOf(client).preview.order(request, agent === null ? {} : { agent })
      let preview = await ask()
      for (let look = 1; look < CURED_LOOKS && preview.missing.some(({ kind }) => kind === cured); look += 1) {
        await new Promise((resolve) => setTimeout(resolve, CURED_POLL_MS))
        guard()
        preview = await ask()
      }
      guard()
      const lacksGas = !(await hasGas(senderAddress() ?? client.agentAddress ?? '0x'))
      guard()
      return { request, preview, lacksGas, verified: null }
    },
    { needs: 'read' },
  )
  if (found === undefined || own !== turn) return
  const before = current.peek()
  current.value = found
  if (before !== null) withdraw(before)
  if (isOrderable(found, found.lacksGas)) await prepareReviewed()
}

const CURED_LOOKS = 8
const CURED_POLL_MS = 500

/** Prepares and verifies the order under review: the first of the two prompts of a wallet. */
export async function prepareReviewed(): Promise<void> {
  const reviewed = current.peek()
  if (reviewed === null || reviewed.verified !== null) return
  clearProblem(ACTIONS.send)
  const verified = await runAction(ACTIONS.prepare, (client) => client.orders.prepareVerified(reviewed.request))
  // The trader may have gone back meanwhile.
  if (verified === undefined) return
  if (current.peek() === reviewed) current.value = { ...reviewed, verified }
  else withdraw({ ...reviewed, verified })
}

/**
 * Sends the order under review: the second prompt. Returns true once it was sent. After a refusal the review stays, and
 * the order is prepared anew before it is sent.
 */
export async function sendReviewed(): Promise<boolean> {
  const reviewed = current.peek()
  const verified = reviewed?.verified
  if (reviewed === null || verified === null || verified === undefined) return false
  const sent = await runAction(ACTIONS.send, async (_client, guard) => {
    guard()
    return (await verified.send()).id
  })
  if (sent === undefined) {
    if (current.peek() === reviewed) current.value = { ...reviewed, verified: null }
    return false
  }
  tellSent(sent, reviewed.request)
  endReview()
  return true
}

/** Orders without a review, as a session agent may. Returns true once it was sent. */
export async function sendAtOnce(request: NewOrder): Promise<boolean> {
  clearProblems()
  const sent = await runAction(ACTIONS.send, async (client) => (await client.orders.create(request)).id)
  if (sent !== undefined) tellSent(sent, request)
  return sent !== undefined
}

/** Goes back to the ticket. An order that was prepared and not sent is withdrawn where that needs no prompt. */
export function leaveReview(): void {
  const reviewed = current.peek()
  endReview()
  clearProblems()
  if (reviewed !== null) withdraw(reviewed)
}

/** Forgets the review without a request, because its account is not here any more. */
export function dropReview(): void {
  endReview()
  clearProblems()
}

/** Returns true when no prompt opens for a signature: the key is in the page. */
export function isSilent(): boolean {
  const now = session.value
  return activeSigner.value === 'session' || (now.kind === 'connected' && now.wallet.kind === 'sandbox')
}

/** Address that sends orders, and pays for their gas. */
export function senderAddress(): `0x${string}` | null {
  const now = session.value
  if (activeSigner.value === 'session') return sessionAgent.value?.address ?? null
  return now.kind === 'connected' ? now.address : null
}

/** Withdraws what was prepared. A wallet is not asked for it: there it expires within minutes by itself. */
function withdraw({ verified }: Review): void {
  if (verified === null || !isSilent()) return
  void runAction('ticket-withdraw', (client) => client.orders.prepareCancel(verified.order.id))
}

function readerOf(client: BezelClient): BezelClient {
  return accountClient.peek() ?? client
}

function clearProblems(): void {
  for (const name of Object.values(ACTIONS)) clearProblem(name)
}

function tellSent(orderId: string, { market, side, type, size }: NewOrder): void {
  const link = { to: `/portfolio/orders?order=${orderId}`, label: 'Timeline' }
  pushToast({
    tone: 'info',
    key: `order-${orderId}`,
    title: 'Order sent',
    body: `${market} ${side} ${size}, ${type}`,
    link,
  })
}
