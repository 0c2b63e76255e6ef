/** How a connection of the stream is. */
export type StreamStatus =
  | { readonly state: 'connecting'; readonly attempt: number }
  /** Greeted by the service; subscriptions follow by themselves. */
  | { readonly state: 'open' }
  /** It broke, or could not be made, and is tried again. */
  | { readonly state: 'waiting'; readonly reason: string; readonly retryInMs: number; readonly attempt: number }
  /** Nobody listens any more. */
  | { readonly state: 'closed'; readonly reason: string }
