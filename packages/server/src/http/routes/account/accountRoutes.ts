import type { PrivateContext } from '../../../access/authenticateCall.ts'
import type { Address, ChainSlug } from '@bezel/protocol'
import type { FastifyRequest } from 'fastify'
import type { Accounts } from '../../../accounts/chainAccounts.ts'
import type { NotReadyReason } from '../../../ground/notReady.ts'
import type { PositionReads } from '../../../accounts/positions/positionReads.ts'
import type { Store } from '../../../store/sql.ts'
import { callerOf, requireOwnAccount } from '../../../access/caller.ts'
import { servedChainOf } from '../../../access/servedChainOf.ts'
import { addressParam } from '../agents/agentRoutes.ts'
import type { MarketsContext } from '../markets/marketsOf.ts'

/** What the routes of a trader's own account answer from. */
export interface AccountContext extends PrivateContext, MarketsContext {
  readonly store: Pick<Store, 'read'>
  readonly accountsOf: (chain: ChainSlug) => Accounts
  readonly positionsOf: (chain: ChainSlug) => PositionReads
  /** Why what was followed of the chain can't be trusted now; `undefined` when it can. */
  readonly followerReason: (chain: ChainSlug) => NotReadyReason | undefined
}

export interface AccountRoute {
  readonly Params: { readonly chain: string; readonly address: string }
}

/** The account that a path names, which must be the caller's own. Throws `TRADER_MISMATCH`. */
export function ownAccount(
  { chains }: Pick<AccountContext, 'chains'>,
  request: FastifyRequest<AccountRoute>,
): { readonly chain: ChainSlug; readonly trader: Address } {
  const { chain, address } = request.params
  const { trader } = callerOf(request)
  // Mostly it is written as it is kept.
  if (address !== trader) requireOwnAccount(request, addressParam(address))
  return { chain: servedChainOf(chains, chain).slug, trader }
}
