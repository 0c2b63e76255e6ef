import type { OpenapiView, OperationView } from './openapiView.ts'
import { refName } from './refName.ts'

/**
 * Who may call an operation: anybody, an agent by its signature, also a read-only key, the trader by a signature in the body, or whoever signs an
 * envelope of the facade.
 */
export type Caller = 'anybody' | 'agent' | 'agentOrKey' | 'trader' | 'envelope'

export function callerOf({ security, body }: OperationView, { schemas }: OpenapiView): Caller {
  if (security.length > 0) return security.includes('ApiKey') ? 'agentOrKey' : 'agent'
  const { properties: fields = {} } = schemas[refName(body?.schema.$ref ?? '')] ?? body?.schema ?? {}
  if (!('signature' in fields)) return 'anybody'
  return 'trader' in fields ? 'trader' : 'envelope'
}
