import type { StreamEvent } from './streamEvents.ts'
import type { Topic } from './topic.ts'

/** What the service says beside events. */
export type ControlMessage =
  | { readonly op: 'hello'; readonly heartbeatMs: number }
  | { readonly op: 'ping'; readonly timestamp: number }
  | { readonly op: 'pong' | 'authenticated' }
  | ({ readonly op: 'subscribed' | 'unsubscribed' } & Topic)
  | { readonly op: 'error'; readonly code: string; readonly message: string }

/** Anything that the service says. */
export type ServerMessage = ControlMessage | (StreamEvent & { readonly op?: undefined })
