import assert from 'node:assert/strict'
import { BezelApiError, createBezelClient, type BezelClient, type Order } from '@bezel/sdk'
import { until } from '@bezel/testkit/until.ts'
import type { Locator, Page } from 'playwright-core'
import type { SdkWorld } from '../sdk/sdkWorld.ts'
import { WALLET_NAME } from './extensionWallet.ts'
import type { Visit } from './visit.ts'

/** Blocks after which a request of this chain can be reclaimed. */
const TIMEOUT_BLOCKS = 200

/** Time for which a second press waits for its button, which may be busy or gone by then. */
const RETRY_MS = 1000

/** Time in which an order is sent or found to be too old. */
const SEND_MS = 20_000

/** The part of a visit that most deeds need; another tab of the same browser has it too. */
type Screen = Pick<Visit, 'page' | 'at'>

/** An order as it is typed into the ticket. */
export interface TicketOrder {
  readonly side?: 'long' | 'short'
  readonly type?: 'market' | 'limit' | 'stop'
  readonly size: string
  readonly price?: string
  readonly slippage?: string
}

/** Returns a screen of another tab. */
export function screenOf(page: Page): Screen {
  return { page, at: (testId) => page.getByTestId(testId) }
}

/** Connects an account of the sandbox, or the extension, and signs in. */
export async function signInAs(screen: Screen, name: string = WALLET_NAME): Promise<void> {
  await connectWallet(screen, name)
  await signIn(screen)
}

export async function connectWallet({ at }: Screen, name: string = WALLET_NAME): Promise<void> {
  await at('connect').click()
  await at(`wallet-option-${name}`).click()
  await at('account-menu').waitFor()
}

export async function signIn(screen: Screen): Promise<void> {
  await press(screen, 'sign-in', screen.at('sign-in'), 'detached')
}

/** Looks after which a button that can still be pressed is: a click is lost when the page is drawn at that moment. */
const LOOKS_BEFORE_AGAIN = 200

/**
 * Presses a button, and waits until an element is there, or is gone. Presses it again, as a user does, when the service
 * said that it is not ready, as it may on a busy machine, and when nothing comes of it for long.
 */
export async function press(
  { page, at }: Screen,
  testId: string,
  outcome: Locator,
  state: 'visible' | 'detached' = 'visible',
): Promise<void> {
  const button = at(testId).filter({ visible: true }).first()
  const refusals = page.getByText('The service is not ready').filter({ visible: true })
  let looks = 0
  await button.click()
  await until(`${testId} leads to ${outcome}`, async () => {
    const count = await outcome.filter({ visible: true }).count()
    if (state === 'visible' ? count > 0 : count === 0) return true
    looks += 1
    const isAgain = (await refusals.count()) > 0 || looks % LOOKS_BEFORE_AGAIN === 0
    if (isAgain) await button.click({ timeout: RETRY_MS }).catch(() => undefined)
    return false
  })
}

/** Fills in the ticket of the trade page, and waits until its estimate has numbers. */
export async function enterOrder({ at }: Screen, order: TicketOrder): Promise<void> {
  const { side = 'long', type = 'market', size, price, slippage } = order
  await at(`type-${type}`).click()
  await at(`side-${side}`).click()
  if (price !== undefined) await at('price').fill(price)
  await at('size').fill(size)
  if (slippage !== undefined) await at('slippage').fill(slippage)
  await at('preview-liquidation').filter({ hasText: /\d/ }).waitFor()
}

/** Enters an order and reviews it: the wallet signs the request, and the transaction is shown. */
export async function reviewOrder(screen: Screen, order: TicketOrder): Promise<void> {
  await enterOrder(screen, order)
  await press(screen, 'preview', screen.at('review'))
  await untilSigned(screen)
}

/** Waits until the request is signed and the transaction is shown. Signs again when the service was not ready. */
export async function untilSigned(screen: Screen): Promise<void> {
  await until('the transaction is shown', () => isSigned(screen))
}

/** Returns true when the transaction is shown; otherwise presses the button that signs again, where there is one. */
async function isSigned({ at }: Screen): Promise<boolean> {
  if (await at('decoded').isVisible()) return true
  const again = at('submit').filter({ hasText: /Sign the request|Review again/ })
  if (await at('ticket-problem').isVisible()) await again.click({ timeout: RETRY_MS }).catch(() => undefined)
  return false
}

/** Sends the order under review. Signs again when a busy machine let the prepared transaction grow too old. */
export async function sendReviewed(screen: Screen): Promise<void> {
  const send = screen.at('submit').filter({ hasText: 'Send order' })
  let isTried = false
  await until('the order is sent', async () => {
    // A click may have been done although a busy machine did not say so in time.
    if (isTried && (await screen.at('review').count()) === 0) return true
    if (!(await isSigned(screen))) return false
    isTried = true
    return send.click({ timeout: SEND_MS }).then(
      () => true,
      () => false,
    )
  })
}

/** Orders by the ticket, and returns the order once the service knows its transaction. */
export async function placeOrder(screen: Screen, reader: BezelClient, order: TicketOrder): Promise<Order> {
  const known = new Set((await allOrders(reader)).map(({ id }) => id))
  await reviewOrder(screen, order)
  await sendReviewed(screen)
  return until('the new order', async (saw) => {
    const orders = await allOrders(reader)
    saw(orders)
    return orders.find(({ id, txHash }) => !known.has(id) && txHash !== null)
  })
}

/** Waits until a list of the page shows an order in a state. */
export async function seeOrder({ page }: Screen, id: string, status: Order['status']): Promise<void> {
  await page.locator(`[data-testid="order-timeline-${id}"][data-status="${status}"]`).first().waitFor()
}

/** Returns the orders of an account, open ones and the last that ended. */
export async function allOrders(reader: BezelClient): Promise<Order[]> {
  const { data } = await reader.account.orderHistory({ limit: 50 })
  const open = await reader.account.openOrders()
  return [...open, ...data.filter(({ id }) => open.every((other) => other.id !== id))]
}

/** Waits until an order is in a state, and returns it. */
export function orderOnce(reader: BezelClient, id: string, status: Order['status']): Promise<Order> {
  return until(`order ${id} is ${status}`, async (saw) => {
    const order = await reader.orders.get(id)
    saw(order)
    return order.status === status ? order : undefined
  })
}

/** Returns a client that reads an account with a key of its own, as a witness beside the page. */
export async function readerOf(world: SdkWorld, name: string): Promise<BezelClient> {
  const trader = world.chain.account(name)
  const of = { baseUrl: world.url(), chain: 'arbitrum-sepolia', trader: trader.address, maxRetries: 60 } as const
  const { diamond } = world.devnet.file.chains['arbitrum-sepolia']!
  const { agents } = createBezelClient({ ...of, diamond })
  // The clock of the page that signed for the same trader just before may be a moment ahead.
  const { apiKey } = await until(`the witness of ${name} has a key`, (saw) =>
    agents.issueApiKey({ trader, label: `witness-${name}` }).catch((error) => {
      if (!(error instanceof BezelApiError) || error.code !== 'NONCE_REUSED') throw error
      saw(error)
      return undefined
    }),
  )
  return createBezelClient({ ...of, diamond, apiKey })
}

/** Lets every request that waits for the oracle time out. */
export async function outwaitOracle(world: SdkWorld): Promise<void> {
  await world.chain.control('hardhat_mine', TIMEOUT_BLOCKS)
}

export async function pauseOracle(world: SdkWorld, isPaused: boolean): Promise<void> {
  await world.chain.control('bezel_pauseOracle', isPaused)
}

/** Counts the positions and resting orders that the Diamond itself has for a trader. */
export async function countOnChain(world: SdkWorld, name: string): Promise<number> {
  const trades = await world.chain.client.readContract({
    address: world.chain.diamond,
    abi: [
      {
        type: 'function',
        name: 'getTrades',
        stateMutability: 'view',
        inputs: [{ name: '_trader', type: 'address' }],
        outputs: [{ name: '', type: 'tuple[]', components: [{ name: 'user', type: 'address' }] }],
      },
    ],
    functionName: 'getTrades',
    args: [world.chain.account(name).address],
  })
  return trades.length
}

/** Waits until a text is somewhere on the screen. */
export async function waitForText({ page }: Screen, text: RegExp): Promise<void> {
  await page.getByText(text).filter({ visible: true }).first().waitFor()
}

/** Asserts that a screen shows no sign of waiting without an end. */
export async function expectNothingBusy({ page }: Screen): Promise<void> {
  await until('nothing is busy', async () => (await page.locator('button[aria-busy="true"]').count()) === 0)
  assert.equal(await page.locator('button[aria-busy="true"]').count(), 0)
}
