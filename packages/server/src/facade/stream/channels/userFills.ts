import type { Subscription } from '../../../stream/channel.ts'
import type { Connection } from '../../../stream/connection.ts'
import { lower } from '../../info/infoRequest.ts'
import type { FacadeFill } from '../../userFills.ts'
import { channelText } from '../facadeTexts.ts'
import { createRefresher } from '../../../ground/refresher.ts'
import type { FillSubscriptionOptions, FillTale } from './fillTale.ts'

/** A user's last executions on one socket, newest first, and then each new one, once. */
export function subscribeUserFills(
  tale: FillTale,
  connection: Connection,
  { onClose, onError, counts }: FillSubscriptionOptions,
): Subscription {
  const user = lower(tale.user)
  /** What came before the snapshot was sent; `undefined` after it. */
  let early: FacadeFill[] | undefined = []
  let stop = (): void => undefined
  let isOpen = true

  function onFills(fills: readonly FacadeFill[]): void {
    if (early === undefined) send({ user, fills })
    else early.push(...fills)
  }

  async function begin(): Promise<void> {
    const fills = await tale.recent()
    if (!isOpen || early === undefined) return
    const told = new Set(fills.map(({ tid }) => tid))
    const missed = early.filter(({ tid }) => !told.has(tid))
    early = undefined
    send({ isSnapshot: true, user, fills })
    if (missed.length > 0) send({ user, fills: missed })
  }

  function send(data: object): void {
    connection.send(channelText('userFills', JSON.stringify(data)))
    counts.sent += 1
  }

  const begun = createRefresher({ work: begin, onError, isOver: () => !isOpen || early === undefined })
  return {
    start() {
      stop = tale.onFills(onFills)
      begun.ask()
    },
    close() {
      isOpen = false
      stop()
      onClose()
    },
  }
}
