import { ApiError } from '@bezel/protocol'

/** The reason why a read can't be answered now. */
export type NotReadyReason =
  | 'starting'
  | 'snapshot'
  | 'feed_stale'
  | 'chain_lagging'
  | 'reorg_too_deep'
  | 'diamond_changed'
  | 'store_lagging'
  | 'relayer_elsewhere'
  | 'clock'
  | 'stopping'
  | 'overloaded'

const SENTENCES: Readonly<Record<NotReadyReason, string>> = {
  starting: 'The service is still reading the markets of this chain; try again in a moment.',
  snapshot:
    'The service is still reading what is open on this chain, and would not show all of your positions and orders; try again in a moment.',
  feed_stale: 'The price feed is silent or sends no prices; try again in a moment.',
  chain_lagging: "This chain's node does not answer, so what is known of it may be out of date; try again in a moment.",
  reorg_too_deep:
    'This chain was reorganised deeper than the service can undo; its operator has to set the data of this chain up again.',
  diamond_changed:
    'The contracts of this chain have changed, and nothing is written until the service has found that it still knows them; reads go on.',
  store_lagging: 'This node does not know yet what another one committed; try again in a moment.',
  relayer_elsewhere:
    'This node does not relay: send the request to the address of the service, which leads it to a node that does.',
  clock:
    "The clock of this node and that of its database differ by more than a second, so it can't judge what is signed; try again in a moment.",
  stopping: 'This node is stopping: send requests to another one, or try again in a moment.',
  overloaded: 'The service has more to do than it can, and answers signed requests first; try again in a moment.',
}

/** Thrown when the store can't read or write now: full, locked, or gone. Nothing of the transaction was kept. */
export class StoreUnavailableError extends Error {
  override readonly name: string = 'StoreUnavailableError'
}

/**
 * Thrown when this node wanted to write as a leader and is none any more. Nothing of the transaction was kept, and
 * whoever leads next does the work.
 */
export class LeaseLostError extends StoreUnavailableError {
  override readonly name = 'LeaseLostError'
}

/** Thrown when the node is down, too slow, or gives an answer that makes no sense. A retry may help. */
export class NodeUnavailableError extends Error {
  override readonly name = 'NodeUnavailableError'
}

/** Does work up to `tries` times, again only when the store was unavailable. */
export async function untilAvailable<Result>(work: () => Promise<Result>, tries: number): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (tries <= 1 || !(error instanceof StoreUnavailableError)) throw error
    return untilAvailable(work, tries - 1)
  }
}

export function notReady(reason: NotReadyReason): ApiError {
  return new ApiError('NOT_READY', SENTENCES[reason], { reason })
}
