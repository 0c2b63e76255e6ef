import { parseStrictJson, StrictJsonError, type JsonValue } from '../../json/parseStrictJson.ts'

export type JsonObject = { readonly [key: string]: JsonValue }

/** What a client of the facade says. */
export type FacadeMessage =
  | { readonly method: 'ping' }
  | { readonly method: 'subscribe' | 'unsubscribe'; readonly subscription: JsonObject }
  | { readonly method: 'post'; readonly id: number; readonly request: JsonObject }

/** `undefined` when it is none of them. What else is in it is passed over: clients add fields of their own. */
export function parseFacadeMessage(bytes: Uint8Array): FacadeMessage | undefined {
  const message = objectOf(parsed(bytes))
  switch (message?.method) {
    case 'ping':
      return { method: 'ping' }
    case 'subscribe':
    case 'unsubscribe':
      return subscriptionOf(message.method, objectOf(message.subscription))
    case 'post':
      return postOf(message.id, objectOf(message.request))
    default:
      return undefined
  }
}

function parsed(bytes: Uint8Array): JsonValue | undefined {
  try {
    return parseStrictJson(bytes, 'message')
  } catch (error) {
    if (error instanceof StrictJsonError) return undefined
    throw error
  }
}

function subscriptionOf(
  method: 'subscribe' | 'unsubscribe',
  subscription: JsonObject | undefined,
): FacadeMessage | undefined {
  return subscription && { method, subscription }
}

function postOf(id: JsonValue | undefined, request: JsonObject | undefined): FacadeMessage | undefined {
  if (typeof id !== 'number' || !Number.isSafeInteger(id) || id < 0) return undefined
  return request && { method: 'post', id, request }
}

function objectOf(value: JsonValue | undefined): JsonObject | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined
}
