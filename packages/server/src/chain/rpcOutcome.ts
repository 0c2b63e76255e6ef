/** What a node said to one call. A revert is such an error, with the revert bytes where the node puts them. */
export type RpcOutcome =
  | { readonly ok: true; readonly result: unknown }
  | { readonly ok: false; readonly code: number; readonly message: string; readonly data: unknown }
