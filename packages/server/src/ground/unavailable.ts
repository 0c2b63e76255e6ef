/** The store can't take or give data now: full, locked, or gone. Nothing of the transaction was kept. */
export class StoreUnavailableError extends Error {
  override readonly name = 'StoreUnavailableError'
}

/** The node is down, too slow, or its answer makes no sense. Asking again may help. */
export class NodeUnavailableError extends Error {
  override readonly name = 'NodeUnavailableError'
}
