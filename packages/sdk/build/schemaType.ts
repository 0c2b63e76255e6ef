/** The parts of JSON Schema that the interface uses. */
interface Schema {
  readonly type?: string
  readonly const?: unknown
  readonly anyOf?: readonly Schema[]
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
}

/**
 * Returns a schema as a TypeScript type, so that the types of the package need no schema library. Throws for an unknown
 * kind of schema.
 */
export function schemaType(schema: Schema, indent = ''): string {
  if ('const' in schema) return JSON.stringify(schema.const)
  if (schema.anyOf !== undefined) return schema.anyOf.map((one) => schemaType(one, indent)).join(' | ')
  switch (schema.type) {
    case 'string':
    case 'boolean':
    case 'null':
      return schema.type
    case 'integer':
    case 'number':
      return 'number'
    case 'array':
      return `Array<${schemaType(schema.items!, indent)}>`
    case 'object':
      return objectType(schema, indent)
    default:
      throw new Error(`schemaType does not know ${JSON.stringify(schema)}: teach it.`)
  }
}

function objectType({ properties, required = [] }: Schema, indent: string): string {
  if (properties === undefined) return '{ [key: string]: unknown }'
  const inner = `${indent}  `
  const lines = Object.entries(properties).map(([name, of]) => {
    const optional = required.includes(name) ? '' : '?'
    return `${inner}readonly ${name}${optional}: ${schemaType(of, inner)};`
  })
  return ['{', ...lines, `${indent}}`].join('\n')
}
