/** What a node said to one call. A revert is such an error, with the revert bytes where the node puts them. */
export type RpcOutcome =
  | { readonly ok: true; readonly result: unknown }
  | { readonly ok: false; readonly code: number; readonly message: string; readonly data: unknown }

/** The node is down, too slow, or its answer makes no sense. Asking again may help. */
export class NodeUnavailableError extends Error {
  override readonly name = 'NodeUnavailableError'
}
