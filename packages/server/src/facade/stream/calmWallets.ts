import type { Address } from '@bezel/protocol'
import { putLast } from '../../ground/putLast.ts'
import type { FacadeReads } from '../facadeReads.ts'

/** What is in wallets, for who asks again and again: a stranger's is not asked of the node each time. */
export interface CalmWallets {
  readonly wallet: FacadeReads['wallet']
  /** Something happened to this account: the next one looks again. */
  forget(trader: Address): void
}

/** A transfer that nothing else tells of shows this much later. */
const MAX_AGE_MS = 30_000
/** The oldest go first. */
const MAX_KNOWN = 10_000

export function createCalmWallets({ wallet, now }: Pick<FacadeReads, 'wallet' | 'now'>): CalmWallets {
  const known = new Map<Address, { readonly askedAtMs: number; readonly reading: Promise<bigint> }>()
  return {
    async wallet(trader) {
      const before = known.get(trader)
      if (before !== undefined && now() - before.askedAtMs < MAX_AGE_MS) return before.reading
      const asked = { askedAtMs: now(), reading: Promise.resolve(wallet(trader)) }
      putLast(known, trader, asked, MAX_KNOWN)
      asked.reading.catch(() => known.get(trader) === asked && known.delete(trader))
      return asked.reading
    },
    forget: (trader) => void known.delete(trader),
  }
}
