import type { Address, ChainSlug } from '@bezel/protocol'
import type { FastifyRequest } from 'fastify'
import type { PrivateContext } from '../../../access/authenticateCall.ts'
import { callerOf, requireOwnAccount } from '../../../access/caller.ts'
import type { Accounts } from '../../../accounts/chainAccounts.ts'
import type { PositionReads } from '../../../accounts/positions/positionReads.ts'
import { servedChainOf } from '../../../chain/servedChain.ts'
import type { NotReadyReason } from '../../../ground/unavailable.ts'
import type { Store } from '../../../store/sql.ts'
import { addressParam } from '../../parameters.ts'
import type { MarketsContext } from '../markets/marketsOf.ts'

/** The context of the routes for a trader's own account. */
export interface AccountContext extends PrivateContext, MarketsContext {
  readonly store: Pick<Store, 'read'>
  readonly accountsOf: (chain: ChainSlug) => Accounts
  readonly positionsOf: (chain: ChainSlug) => PositionReads
  /** Returns the reason why the followed state of the chain can't be trusted now, or `undefined` when it can. */
  readonly followerReason: (chain: ChainSlug) => NotReadyReason | undefined
}

interface AccountRequest {
  readonly Params: { readonly chain: string; readonly address: string }
}

/** Returns the account that a path names. Throws `TRADER_MISMATCH` when it is not the caller's own. */
export function ownAccount(
  { chains }: Pick<AccountContext, 'chains'>,
  request: FastifyRequest<AccountRequest>,
): { readonly chain: ChainSlug; readonly trader: Address } {
  const { chain, address } = request.params
  const { trader } = callerOf(request)
  // Most callers send the address with its checksum, as it is stored, so parsing is skipped for them.
  if (address !== trader) requireOwnAccount(request, addressParam(address))
  return { chain: servedChainOf(chains, chain).slug, trader }
}
