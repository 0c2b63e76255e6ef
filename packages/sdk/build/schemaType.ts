/** The parts of JSON Schema that the interface uses. */
export interface Schema {
  readonly title?: string
  readonly description?: string
  readonly type?: string
  readonly const?: unknown
  readonly pattern?: string
  readonly anyOf?: readonly Schema[]
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
}

/** The surroundings of a type: the names of other types, and the texts of fields. */
export interface TypeContext {
  /** Returns the name under which a schema is declared elsewhere; `undefined` for one that is written in place. */
  nameOf(schema: Schema): string | undefined
  /** Returns a recorded value of a field; `undefined` when there is none. */
  exampleOf?(schema: Schema, field: string): unknown
}

const NAMELESS: TypeContext = { nameOf: () => undefined }

/** Widest line of a comment. */
const COMMENT_CHARS = 110

/**
 * Returns a schema as a TypeScript type, so that the types of the package need no schema library. Throws for an unknown
 * kind of schema.
 */
export function schemaType(schema: Schema, context: TypeContext = NAMELESS, indent = ''): string {
  return context.nameOf(schema) ?? bodyType(schema, context, indent)
}

/** Returns the type of a schema itself, whatever its name. */
export function bodyType(schema: Schema, context: TypeContext = NAMELESS, indent = ''): string {
  if ('const' in schema) return JSON.stringify(schema.const)
  if (schema.anyOf !== undefined) return schema.anyOf.map((one) => schemaType(one, context, indent)).join(' | ')
  switch (schema.type) {
    case 'string':
      return schema.pattern?.startsWith('^0x') === true ? '`0x${string}`' : 'string'
    case 'boolean':
    case 'null':
      return schema.type
    case 'integer':
    case 'number':
      return 'number'
    case 'array':
      return `Array<${schemaType(schema.items!, context, indent)}>`
    case 'object':
      return objectType(schema, context, indent)
    default:
      throw new Error(`schemaType does not know ${JSON.stringify(schema)}: teach it.`)
  }
}

function objectType(schema: Schema, context: TypeContext, indent: string): string {
  const { properties, required = [] } = schema
  if (properties === undefined) return '{ [key: string]: unknown }'
  const inner = `${indent}  `
  const lines = Object.entries(properties).map(([name, of]) => {
    const optional = required.includes(name) ? '' : '?'
    const text = [of.description ?? '', exampleText(context.exampleOf?.(schema, name))].filter((part) => part !== '')
    return `${comment(text.join(' '), inner)}${inner}readonly ${name}${optional}: ${schemaType(of, context, inner)};`
  })
  return ['{', ...lines, `${indent}}`].join('\n')
}

function exampleText(example: unknown): string {
  if (example === undefined || example === null) return ''
  const text = JSON.stringify(example)
  return text.length > COMMENT_CHARS / 2 ? '' : `Example: \`${text}\`.`
}

/** Returns a text as a comment of the language, broken into lines; empty for an empty text. */
export function comment(text: string, indent: string): string {
  if (text === '') return ''
  const lines: string[] = []
  for (const word of text.replaceAll('*/', '* /').split(/\s+/)) {
    const line = lines.at(-1)
    if (line === undefined || line.length + word.length >= COMMENT_CHARS - indent.length) lines.push(word)
    else lines[lines.length - 1] = `${line} ${word}`
  }
  if (lines.length === 1) return `${indent}/** ${lines[0]} */\n`
  return `${indent}/**\n${lines.map((line) => `${indent} * ${line}\n`).join('')}${indent} */\n`
}
