import type { Hex } from 'viem'
import type { CampaignClient } from './campaignClient.ts'
import type { Journal, KnownTransaction } from './journal.ts'
import type { SeededRandom } from '@bezel/testkit/seededRandom.ts'
import type { Wallet } from './wallet.ts'

export interface SenderOptions {
  readonly client: CampaignClient
  readonly wallet: Wallet
  readonly journal: Journal
  readonly random: SeededRandom
}

/** Sends the prepared transactions of an agent. */
export interface Sender {
  /** Sends the transaction or not, and reports it before, after or never. */
  use(known: KnownTransaction): Promise<void>
  /** Sends the transaction, and sometimes reports it. */
  send(known: KnownTransaction): Promise<void>
  keep(known: KnownTransaction): void
  /** Sends a kept transaction, perhaps long past its expiry: the chain accepts it all the same. */
  sendKept(): Promise<void>
}

export function createSender({ client, wallet, journal, random }: SenderOptions): Sender {
  const kept: KnownTransaction[] = []

  async function report({ orderId }: KnownTransaction, txHash: Hex, ask: CampaignClient['askOnce']): Promise<void> {
    journal.tell(orderId, `submitOrder ${txHash}`)
    const answer = await ask('submitOrder', 'POST', `/orders/${orderId}/submit`, { txHash })
    if (answer === undefined || answer.status === 503) return
    const { status, body } = answer
    journal.tell(orderId, `answered ${status} ${body.code ?? body.status}`)
    journal.count(status === 200 ? 'submitOrder' : `submitOrder refused: ${body.code}`)
    if (status === 200) journal.noteReported(orderId, txHash)
    else journal.problems.push(`the report of ${txHash} for order ${orderId} was refused: ${JSON.stringify(body)}`)
  }

  /** Reports the hash before sending. Tries only once, because the wallet waits for it. */
  async function reportFirst(known: KnownTransaction, isSent: boolean): Promise<void> {
    await wallet.send(known.transaction, async (hash) => {
      await report(known, hash, client.askOnce)
      if (isSent) journal.noteBroadcast({ ...known, hash })
      return isSent
    })
  }

  async function send(known: KnownTransaction): Promise<void> {
    const isReported = random.chance(0.5)
    const hash = await wallet.send(known.transaction, async (signed) => {
      journal.noteBroadcast({ ...known, hash: signed })
      return true
    })
    if (isReported && hash !== undefined) await report(known, hash, client.ask)
  }

  function keep(known: KnownTransaction): void {
    journal.tell(known.orderId, 'its transaction is kept')
    kept.push(known)
  }

  return {
    async use(known) {
      const choice = random.next()
      if (choice < 0.2) keep(known)
      else if (choice < 0.28) await reportFirst(known, false)
      else if (choice < 0.4) await reportFirst(known, true)
      else await send(known)
    },
    send,
    keep,
    async sendKept() {
      const [known] = kept.splice(random.below(kept.length), 1)
      if (known !== undefined) await send(known)
    },
  }
}
