import { SANDBOX_ADDRESSES } from '@bezel/protocol'
import { snippetChain, type Deployment } from './deployment.ts'
import type { OpenapiParameter } from '../openapi/openapiDocument.ts'
import type { OperationView } from './restPage.ts'

/** Returns the path of an example of a request, with the query that it must have. */
export function examplePath({ path, parameters }: OperationView, deployment: Deployment): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_place, name: string) => {
    const parameter = parameters.find((of) => of.in === 'path' && of.name === name)
    if (name === 'chain') return snippetChain(deployment).slug
    if (parameter === undefined) return ''
    return isTraderAddress(parameter, path) && !deployment.isSandbox
      ? '$TRADER'
      : encodeURIComponent(exampleText(parameter))
  })
  const query = parameters.filter((of) => of.in === 'query' && of.required === true)
  const pairs = query.map((of) => `${of.name}=${encodeURIComponent(exampleText(of))}`)
  return pairs.length === 0 ? filled : `${filled}?${pairs.join('&')}`
}

/** Returns the example of a parameter as text; empty without one. */
export function exampleText({ example }: OpenapiParameter): string {
  return example === undefined ? '' : String(example)
}

/** True for a parameter that is the address of a trader, whose own credentials the request needs. */
export function isTraderAddress({ name, in: place }: OpenapiParameter, path: string): boolean {
  return place === 'path' && name === 'address' && !path.includes('/agents/')
}

/** Returns the trader of an example: trader-1 on the sandbox, elsewhere what `other` says. */
export function exampleAddress(isSandbox: boolean, other: string, quote = "'"): string {
  return isSandbox ? `${quote}${SANDBOX_ADDRESSES['trader-1']}${quote}` : other
}

/** Bodies of examples that work everywhere and at any price, in place of the recorded ones. */
const BODIES: Readonly<Record<string, unknown>> = {
  createOrder: { market: 'BTC/USD', side: 'long', type: 'market', size: '0.01', leverage: '10' },
  hlInfo: { type: 'meta' },
}

/** Returns the example of an operation's body. */
export function exampleBody({ operationId, body }: OperationView): unknown {
  return BODIES[operationId] ?? body?.example ?? {}
}
