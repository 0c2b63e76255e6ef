import type { Order, Position, PreparedOrder, PreparedTransaction } from '@bezel/protocol'
import type { Answer } from '../agentClient.ts'
import type { CampaignClient } from './campaignClient.ts'
import type { Journal, KnownTransaction } from './journal.ts'
import type { SeededRandom } from './seededRandom.ts'
import type { Wallet } from './wallet.ts'

/** One of the things an agent does at the same time. */
export interface AgentLoopOptions {
  /** Also what its clientIds begin with. */
  readonly name: string
  readonly client: CampaignClient
  readonly wallet: Wallet
  readonly journal: Journal
  readonly random: SeededRandom
  readonly isOver: () => boolean
}

type Body = Readonly<Record<string, unknown>>

/** More than an account needs: then it closes before it opens. */
const MANY_POSITIONS = 8
const MANY_ORDERS = 8

/** Trades at random until it is told that it is over; everything it is told by the service goes into the journal. */
export async function runAgentLoop(options: AgentLoopOptions): Promise<void> {
  const { name, client, wallet, journal, random, isOver } = options
  const account = `/account/${client.trader.address}`
  /** Prepared and not sent. */
  const kept: KnownTransaction[] = []
  let made = 0

  function note(what: string, answer: Answer): void {
    journal.count(answer.status < 300 ? what : `${what} refused: ${answer.body.code}`)
  }

  /** What was asked, and the answer when it was a good one. */
  async function ask(what: string, method: string, path: string, body?: Body): Promise<Answer['body'] | undefined> {
    const answer = await client.ask(what, method, path, body)
    note(what, answer)
    return answer.status < 300 ? answer.body : undefined
  }

  async function create(body: Body): Promise<void> {
    const clientId = `${name}-${made++}`
    const asked = { ...body, clientId }
    journal.tell(clientId, `createOrder ${JSON.stringify(body)}`)
    const answer = await askForOrder(clientId, asked)
    if (answer === undefined) return
    const { order, transaction } = answer
    if (transaction !== null) await use({ orderId: order.id, purpose: 'open', agent: client.agent.address, transaction })
    if (!random.chance(0.25)) return
    const repeat = await askForOrder(clientId, asked)
    if (repeat === undefined) {
      journal.problems.push(`the repeat of order ${order.id} was refused`)
      return
    }
    if (repeat.transaction !== null) keep(repeat, repeat.transaction)
  }

  async function askForOrder(clientId: string, asked: Body): Promise<PreparedOrder | undefined> {
    const answer: PreparedOrder | undefined = await ask('createOrder', 'POST', '/orders', asked)
    if (answer === undefined) return undefined
    journal.acknowledge(client.agent.address, clientId, answer.order)
    journal.tell(answer.order.id, `answered ${answer.order.status}, ${answer.transaction === null ? 'no' : 'a'} transaction`)
    return answer
  }

  function keep({ order }: { readonly order: Order }, transaction: PreparedTransaction): void {
    kept.push({ orderId: order.id, purpose: 'open', agent: client.agent.address, transaction })
  }

  /** Sends it, or not; reports it before, after or never. */
  async function use(known: KnownTransaction): Promise<void> {
    const choice = random.next()
    if (choice < 0.2) {
      kept.push(known)
      journal.tell(known.orderId, 'its transaction is kept')
    } else if (choice < 0.28) await reportOnly(known)
    else if (choice < 0.4) await reportThenSend(known)
    else await sendThenReport(known, random.chance(0.5))
  }

  async function reportOnly(known: KnownTransaction): Promise<void> {
    await wallet.send(known.transaction, async (txHash) => {
      await report(known, txHash, false)
      return false
    })
  }

  async function reportThenSend(known: KnownTransaction): Promise<void> {
    await wallet.send(known.transaction, async (hash) => {
      await report(known, hash, false)
      journal.noteBroadcast({ ...known, hash })
      return true
    })
    journal.count('transactions sent')
  }

  async function sendThenReport(known: KnownTransaction, isReported: boolean): Promise<void> {
    const hash = await wallet.send(known.transaction, async (signed) => {
      journal.noteBroadcast({ ...known, hash: signed })
      return true
    })
    journal.count('transactions sent')
    if (isReported && hash !== undefined) await report(known, hash, true)
  }

  async function report(
    { orderId }: KnownTransaction,
    txHash: `0x${string}`,
    isPersistent: boolean,
  ): Promise<void> {
    const path = `/orders/${orderId}/submit`
    journal.tell(orderId, `submitOrder ${txHash}`)
    const asking = isPersistent ? client.ask : client.askOnce
    const answer = await asking('submitOrder', 'POST', path, { txHash })
    if (answer === undefined || answer.status === 503) return
    note('submitOrder', answer)
    journal.tell(orderId, `submit answered ${answer.status} ${answer.body.code ?? answer.body.status}`)
    if (answer.status === 200) journal.noteReported(orderId, txHash)
    else journal.problems.push(`the report of ${txHash} for order ${orderId} was refused: ${JSON.stringify(answer.body)}`)
  }

  async function openOrders(): Promise<readonly Order[]> {
    return (await ask('listOpenOrders', 'GET', `${account}/orders`))?.data ?? []
  }

  async function changeOrder(): Promise<void> {
    const orders = (await openOrders()).filter(({ status }) => status === 'open' || status === 'prepared')
    if (orders.length === 0) return
    const { id, status } = random.pick(orders)
    const isUpdate = status === 'open' && random.chance(0.5)
    const body = random.chance(0.5) ? { price: limitPrice() } : { size: size() }
    journal.tell(id, isUpdate ? `updateOrder ${JSON.stringify(body)}` : 'cancelOrder')
    const answer: PreparedOrder | undefined = isUpdate
      ? await ask('updateOrder', 'PATCH', `/orders/${id}`, body)
      : await ask('cancelOrder', 'DELETE', `/orders/${id}`)
    if (answer === undefined) return
    const { order, transaction } = answer
    journal.tell(id, `answered ${order.status}`)
    if (transaction === null) journal.withdrawn.add(id)
    else if (random.chance(0.85)) {
      await sendThenReport({ orderId: id, purpose: 'change', agent: client.agent.address, transaction }, random.chance(0.5))
    }
  }

  async function closeOne(positions: readonly Position[]): Promise<void> {
    const { id, size: held } = random.pick(positions)
    const body = random.chance(0.3) ? { size: (Number(held) / 2).toFixed(4) } : {}
    const answer: PreparedOrder | undefined = await ask('closePosition', 'POST', `/positions/${id}/close`, body)
    if (answer === undefined) return
    const { order, transaction } = answer
    journal.acknowledge(client.agent.address, null, order)
    journal.tell(order.id, `closes position ${id} ${JSON.stringify(body)}`)
    await use({ orderId: order.id, purpose: 'open', agent: client.agent.address, transaction: transaction! })
  }

  /** A transaction that was kept, perhaps long past its expiry: the chain takes it all the same. */
  async function sendKept(): Promise<void> {
    const at = random.below(kept.length)
    const [known] = kept.splice(at, 1)
    if (known !== undefined) await sendThenReport(known, random.chance(0.5))
  }

  const size = (): string => random.pick(['0.01', '0.015', '0.02', '0.03'])
  const limitPrice = (): string => String(58_000 + random.below(36) * 100)
  const terms = (): Body => ({
    market: 'BTC/USD',
    side: random.pick(['long', 'short']),
    size: size(),
    leverage: random.pick(['5', '10', '25']),
  })
  const stops = (side: unknown): Body => {
    if (!random.chance(0.3)) return {}
    return side === 'long' ? { tp: '61200', sl: '57500' } : { tp: '58200', sl: '62000' }
  }

  async function act(): Promise<void> {
    const choice = random.next()
    if (choice < 0.3) {
      const body = { ...terms(), type: 'market', slippage: '3' }
      return create({ ...body, ...stops((body as Body).side) })
    }
    if (choice < 0.5) return create({ ...terms(), type: random.pick(['limit', 'stop']), price: limitPrice() })
    if (choice < 0.55) return create({ ...terms(), type: 'market', size: '0.05', slippage: '3', reduceOnly: true })
    if (choice < 0.75) return changeOrder()
    if (choice < 0.8 && kept.length > 0) return sendKept()
    const positions: readonly Position[] = (await ask('listPositions', 'GET', `${account}/positions`))?.data ?? []
    if (positions.length > 0) return closeOne(positions)
  }

  /** So that an account that only grows does not slow everything down. */
  async function tidy(): Promise<void> {
    const positions: readonly Position[] = (await ask('listPositions', 'GET', `${account}/positions`))?.data ?? []
    if (positions.length > MANY_POSITIONS) await closeOne(positions)
    if ((await openOrders()).length > MANY_ORDERS) await changeOrder()
  }

  while (!isOver()) {
    await act()
    if (random.chance(0.15)) await tidy()
  }
}
