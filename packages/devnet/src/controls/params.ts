import { parseAddress, type Address } from '@bezel/protocol'
import { parseQuantity } from '../chain/quantity.ts'
import { invalidParams } from '../chain/rpcError.ts'

/** The parameters of a control, read by position; each throws a JSON-RPC error that names what is wrong. */

export function textParam(value: unknown, name: string): string {
  if (typeof value !== 'string')
    throw invalidParams(`${name} must be a string, not ${JSON.stringify(value) ?? 'nothing'}`)
  return value
}

export function flagParam(value: unknown, name: string): boolean {
  if (typeof value !== 'boolean')
    throw invalidParams(`${name} must be true or false, not ${JSON.stringify(value) ?? 'nothing'}`)
  return value
}

export function addressParam(value: unknown, name: string): Address {
  const address = typeof value === 'string' ? parseAddress(value) : undefined
  if (address === undefined)
    throw invalidParams(`${name} must be an address, not ${JSON.stringify(value) ?? 'nothing'}`)
  return address
}

export function millisecondsParam(value: unknown, name: string, max: number): number {
  const milliseconds = parseQuantity(value, name)
  if (milliseconds > max) throw invalidParams(`${name} must be at most ${max} ms, not ${milliseconds}`)
  return milliseconds
}
