import { EVERYBODY, type Notice } from '../store/noticeRecord.ts'
import { TradingActivated, type ChainSlug } from '@bezel/protocol'
import { ABOUT_NO_ORDER } from './notice.ts'

export const PAUSE_NOTICE_TYPES = ['chain_paused', 'chain_close_only'] as const

/** What everybody is told while a chain's Diamond does not let everything happen; `undefined` while it does. */
export function pauseNotice(chain: ChainSlug, activated: number, nowMs: number): Notice | undefined {
  if (activated === TradingActivated.ACTIVATED) return undefined
  const isCloseOnly = activated === TradingActivated.CLOSE_ONLY
  return {
    trader: EVERYBODY,
    // One pause at a time, so nothing more tells it from others: it is ended with the pause.
    key: { chain, type: isCloseOnly ? 'chain_close_only' : 'chain_paused', subject: EVERYBODY },
    content: {
      ...(isCloseOnly
        ? {
            severity: 'warning',
            title: 'Closing only',
            message: `Positions on ${chain} can only be closed for now: the contracts accept no new trades.`,
          }
        : {
            severity: 'critical',
            title: 'Trading paused',
            message: `Trading on ${chain} is paused by the contracts: positions can be neither opened nor closed for now.`,
          }),
      ...ABOUT_NO_ORDER,
      link: `/v1/${chain}`,
    },
    createdAtMs: nowMs,
    expiresAtMs: null,
  }
}
