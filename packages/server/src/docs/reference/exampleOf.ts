import { DEFAULT_DOMAIN_NAME } from '../../settings/config.ts'
import { EXAMPLE_COMPONENTS } from './exampleComponents.ts'
import { refName } from './refName.ts'
import type { Schema, Schemas } from './schema.ts'

/** Values that fit a field by its name, where any value of its type would do but few make sense. */
const BY_FIELD: Readonly<Record<string, unknown>> = {
  action: { type: 'cancel', cancels: [{ a: 0, o: 1042 }] },
  base: 'BTC',
  chainId: 421_614,
  closeFeeRate: '0.06',
  emptyBodyHash: '0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470',
  maxLeverage: '150',
  markPrice: '60000',
  minCollateralUsd: '5',
  minLeverage: '1.1',
  minPositionSizeUsd: '1500',
  minPositionUsd: '1500',
  name: DEFAULT_DOMAIN_NAME,
  nonce: 1_790_000_000_000,
  openFeeRate: '0.06',
  pricePrecision: 10,
  quote: 'USD',
  r: '0x9b1d3f6f0d2c4ea58a7c1b90e64f2d31c5a8776f40be19d2e3c7586fa1b04d92',
  s: '0x6e58c3f17a90b2d4685ce1f73a9d04b62c8f15e7d3a06b94f218ce57a3d0e961',
  v: 28,
  sizePrecision: 8,
  spreadRate: '0.02',
  testnet: true,
  ready: true,
  version: '1',
}

const FIELDS_OF_A_REQUEST = [
  { name: 'method', type: 'string' },
  { name: 'path', type: 'string' },
  { name: 'bodyHash', type: 'bytes32' },
  { name: 'timestamp', type: 'uint256' },
  { name: 'nonce', type: 'uint256' },
]

/** A value that a schema takes. `field` is the name of the field it stands in. */
export function exampleOf(schema: Schema, schemas: Schemas, field = ''): unknown {
  if (field === 'fields') return FIELDS_OF_A_REQUEST
  if (Object.hasOwn(BY_FIELD, field)) return BY_FIELD[field]
  if (schema.$ref !== undefined) return exampleOfNamed(refName(schema.$ref), schemas)
  if (schema.const !== undefined) return schema.const
  if (schema.enum !== undefined) return schema.enum[0]
  if (field === 'nextCursor') return null
  const { anyOf, items, properties, additionalProperties } = schema
  if (anyOf !== undefined) return exampleOf(anyOf[0]!, schemas, field)
  if (properties !== undefined) return exampleOfFields(schema, schemas)
  if (typeof additionalProperties === 'object') {
    return { [String(EXAMPLE_COMPONENTS.ChainSlug)]: exampleOf(additionalProperties, schemas) }
  }
  if (schema.type === 'array') return items === undefined ? [] : [exampleOf(items, schemas)]
  if (schema.type === 'boolean') return true
  return schema.type === 'integer' || schema.type === 'number' ? (schema.minimum ?? 0) : ''
}

function exampleOfNamed(name: string, schemas: Schemas): unknown {
  if (Object.hasOwn(EXAMPLE_COMPONENTS, name)) return EXAMPLE_COMPONENTS[name]
  return exampleOf(schemas[name] ?? {}, schemas)
}

/** What must be there, or all of it where nothing must. */
function exampleOfFields({ properties = {}, required }: Schema, schemas: Schemas): unknown {
  const fields = Object.entries(properties).filter(([name]) => required?.includes(name) ?? true)
  return Object.fromEntries(fields.map(([name, of]) => [name, exampleOf(of, schemas, name)]))
}
