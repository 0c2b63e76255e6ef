import type { Address, ChainSlug } from '@bezel/protocol'
import type { FastifyRequest } from 'fastify'
import type { PrivateContext } from '../../../access/authenticateCall.ts'
import { callerOf, requireOwnAccount } from '../../../access/caller.ts'
import type { Accounts } from '../../../accounts/chainAccounts.ts'
import type { PositionReads } from '../../../accounts/positions/positionReads.ts'
import { servedChainOf } from '../../../chain/servedChain.ts'
import { notReady, type NotReadyReason } from '../../../ground/unavailable.ts'
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
  /** Returns true when everything that a trader has on the chain is known. */
  readonly isKnown: (chain: ChainSlug, trader: Address) => boolean
}

interface ChainRequest {
  readonly Params: { readonly chain: string }
}

interface AccountRequest {
  readonly Params: { readonly chain: string; readonly address: string }
}

/**
 * Returns the account that a path names. Throws `TRADER_MISMATCH` when it is not the caller's own, and `NOT_READY`
 * while not everything of it is known.
 */
export function ownAccount(
  context: Pick<AccountContext, 'chains' | 'isKnown'>,
  request: FastifyRequest<AccountRequest>,
): { readonly chain: ChainSlug; readonly trader: Address } {
  const { address } = request.params
  const { trader } = callerOf(request)
  // Most callers send the address with its checksum, as it is stored, so parsing is skipped for them.
  if (address !== trader) requireOwnAccount(request, addressParam(address))
  return ownChain(context, request)
}

/**
 * Returns the caller and the chain of a path that names no account. Throws `NOT_READY` while not everything of the
 * caller is known.
 */
export function ownChain(
  context: Pick<AccountContext, 'chains' | 'isKnown'>,
  request: FastifyRequest<ChainRequest>,
): { readonly chain: ChainSlug; readonly trader: Address } {
  const { slug } = servedChainOf(context.chains, request.params.chain)
  const { trader } = callerOf(request)
  // A part of what the trader has would be taken for all of it.
  if (!context.isKnown(slug, trader)) throw notReady('snapshot')
  return { chain: slug, trader }
}
