import { eraseOldCallers } from './access/auditLog.ts'
import { every } from './ground/every.ts'
import { forgetOldEvents } from './journal/accountLog.ts'
import { forgetUnsent } from './journal/forgetUnsent.ts'
import type { Leader } from './journal/roles.ts'
import { startNoticeRounds, type NoticesOptions } from './notices/startNotices.ts'
import type { Base } from './openBase.ts'
import { countOrders } from './store/orderStore.ts'

/** Pause between two rounds that forget registrations which never were in force. */
const FORGET_CLAIMS_MS = 60_000

/** The lead of whoever keeps what belongs to no chain. */
const KEEPER = { role: 'keeper', chain: '' } as const

type KeeperOptions = Pick<NoticesOptions, 'agentsOf' | 'marketsOf'>

/**
 * Opens the keeper of what belongs to no chain: candles are written, notices settled, and what is old is forgotten. One
 * node of a deployment does this; `open` ends it.
 */
export async function openKeeper(base: Base, options: KeeperOptions, open: AsyncDisposableStack): Promise<void> {
  await base.roles.lead(KEEPER, open, (leader) => keepDeployment(base, options, leader))
}

/** Returns true where this node keeps what belongs to no chain: it alone tells what all nodes would repeat. */
export function isKeeper({ roles }: Pick<Base, 'roles'>): boolean {
  return roles.leads().some(({ role, chain, isHeld }) => isHeld && role === KEEPER.role && chain === KEEPER.chain)
}

async function keepDeployment(base: Base, options: KeeperOptions, { store, open }: Leader): Promise<void> {
  const { config, chains, authenticate, markets, roles, now, log } = base
  if (!roles.isAlone) {
    await markets.candles.writeTo(store)
    open.defer(() => markets.candles.writeTo(undefined))
  }
  open.defer(base.orderCounts.begin((after) => countOrders(store.read, after)))
  const rounds = startNoticeRounds({ chains, ...options, store, now, log })
  open.defer(() => rounds.close())
  const claims = every(FORGET_CLAIMS_MS, () => authenticate.registry.forgetOldClaims(store), {
    onError: (error) => log.error({ err: error }, 'old registrations could not be forgotten'),
  })
  open.defer(() => claims.close())
  const onError = (error: unknown): void => log.error({ err: error }, 'old events could not be forgotten')
  open.defer(forgetOldEvents({ store, keepDays: config.eventsKeepDays, now, onError }))
  open.defer(
    forgetUnsent({
      store,
      chains: chains.map(({ slug }) => slug),
      keepDays: config.unsentKeepDays,
      now,
      onForgotten: (orders) => base.orderCounts.forget('expired', orders),
      onError: (error) => log.error({ err: error }, 'what was never sent could not be forgotten'),
    }),
  )
  open.defer(
    eraseOldCallers({
      store,
      keepDays: config.auditIpDays,
      now,
      onError: (error) => log.error({ err: error }, "callers' addresses could not be erased"),
    }),
  )
}
