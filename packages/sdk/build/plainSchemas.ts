import { Kind, type TSchema } from '@sinclair/typebox'
import { BASE } from '@bezel/protocol'
import { bodyType, comment, schemaType, type Schema, type TypeContext } from './schemaType.ts'

/** A module of schemas: its declarations as the compiler wrote them, and the module itself. */
export interface SchemaModule {
  /** Name of the file without its ending. */
  readonly file: string
  readonly declarations: string
  readonly exports: Readonly<Record<string, unknown>>
}

/** Returns a recorded value of a field of a named schema; `undefined` when there is none. */
export type ExampleOf = (title: string, field: string) => unknown

/** Splits a declaration file before each statement of its top level, each with its comment. */
const STATEMENT = /^(?<!\*\/\n)(?=\/\*\*|export |import |declare |type |interface )/m
const ALIAS = /^(?:\/\*\*[\s\S]*?\*\/\n)?export type (\w+) = Static<typeof (\w+)>;$/m

/**
 * Replacement of the schema library: a schema is declared by the one member that types need. The `export` keeps it
 * local to its file.
 */
const STATIC = 'type Static<Schema extends { static: unknown }> = Schema["static"];\n'

/**
 * Returns the declarations of modules of schemas without the schema library, by file. Each named schema is an interface
 * or a type of its own, with the meaning of each field as its comment, and refers to the others by name.
 */
export function plainSchemas(modules: readonly SchemaModule[], exampleOf: ExampleOf): ReadonlyMap<string, string> {
  const names = typeNames(modules)
  return new Map(modules.map((module) => [module.file, plainModule(module, names, exampleOf)]))
}

/** The name of a type and the file that declares it. */
interface TypeName {
  readonly name: string
  readonly file: string
  /** True when a statement of the file declares it, which is then kept. */
  readonly isDeclared: boolean
}

/**
 * Names every schema with a title: by the alias of its type, by a type of the same name, or by its title. A schema that
 * no module exports is declared where it is used first.
 */
function typeNames(modules: readonly SchemaModule[]): ReadonlyMap<string, TypeName> {
  const names = new Map<string, TypeName>()
  const add = (title: string | undefined, name: TypeName): void => {
    if (title !== undefined && !names.has(title)) names.set(title, name)
  }
  for (const { file, declarations, exports } of modules) {
    for (const statement of declarations.split(STATEMENT)) {
      const [, alias, schema] = ALIAS.exec(statement) ?? []
      if (alias !== undefined) add(titleOf(exports[schema!]), { name: alias, file, isDeclared: false })
      const declared = /^(?:\/\*\*[\s\S]*?\*\/\n)?export (?:type|interface) (\w+)\b/.exec(statement)?.[1]
      if (declared !== undefined && alias === undefined) add(declared, { name: declared, file, isDeclared: true })
    }
  }
  for (const { file, exports } of modules) {
    for (const value of Object.values(exports)) {
      if (isSchema(value)) add(namedTitle(value), { name: titleOf(value) ?? '', file, isDeclared: false })
    }
  }
  for (const { file, exports } of modules) {
    for (const title of Object.values(exports).flatMap(titlesIn)) add(title, { name: title, file, isDeclared: false })
  }
  return names
}

function plainModule(module: SchemaModule, names: ReadonlyMap<string, TypeName>, exampleOf: ExampleOf): string {
  const imported = new Map<string, string>()
  const context: TypeContext = {
    nameOf(schema) {
      const title = namedTitle(baseOf(schema))
      const found = title === undefined ? undefined : names.get(title)
      if (found !== undefined && found.file !== module.file) imported.set(found.name, found.file)
      return found?.name
    },
    exampleOf: ({ title }, field) => (title === undefined ? undefined : exampleOf(title, field)),
  }
  const declared = new Set<string>()
  const declare = (schema: Schema): string => {
    const { name } = names.get(schema.title!)!
    if (declared.has(name)) return ''
    declared.add(name)
    const body = bodyType(schema, context)
    const head = comment(schema.description ?? '', '')
    return schema.properties === undefined
      ? `${head}export type ${name} = ${body};\n`
      : `${head}export interface ${name} ${body}\n`
  }
  const statements = module.declarations
    .split(STATEMENT)
    .map((statement) => plainStatement(statement, module.exports, { context, declare }))
  const own = [...schemasIn(module.exports)].filter((schema) => {
    const name = names.get(schema.title!)
    return name?.file === module.file && !name.isDeclared
  })
  const rest = own.map(declare)
  const text = [...statements, ...rest].join('')
  const imports = [...imported].map(([name, file]) => `import type { ${name} } from './${file}.js';\n`)
  return [...imports, /\bStatic</.test(text) ? STATIC : '', text, 'export {};\n'].join('')
}

function plainStatement(
  statement: string,
  exports: Readonly<Record<string, unknown>>,
  { context, declare }: { readonly context: TypeContext; readonly declare: (schema: Schema) => string },
): string {
  const code = statement.replace(/^\/\*\*[\s\S]*?\*\/\n/, '')
  if (
    /^import .* from ['"]@sinclair\/typebox['"]/.test(code) ||
    /^import .* from ['"]\.\/scalars\.(?:ts|js)['"]/.test(code)
  ) {
    return ''
  }
  const [, alias, of] = ALIAS.exec(statement) ?? []
  if (alias !== undefined && isSchema(exports[of!])) {
    const schema = exports[of!] as Schema
    return schema.title === undefined ? `export type ${alias} = ${schemaType(schema, context)};\n` : declare(schema)
  }
  const name = /^(?:export )?declare const (\w+)\b/.exec(code)?.[1]
  const value = name === undefined ? undefined : exports[name]
  // A schema is a type to clients. Its declaration follows where the type is.
  if (isSchema(value)) return ''
  const table = tableType(value, context)
  if (table !== undefined) return `export declare const ${name}: ${table};\n`
  // Drops functions that make schemas: only the service needs them.
  return code.startsWith('export declare function') && /\bTSchema\b|sinclair/.test(code) ? '' : statement
}

/** Returns the type of a table of schemas; `undefined` for any other value. */
function tableType(value: unknown, context: TypeContext): string | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  const entries = Object.entries(value)
  if (entries.length === 0 || !entries.every(([, one]) => isSchema(one))) return undefined
  return `{ ${entries.map(([name, one]) => `${name}: { static: ${schemaType(one as Schema, context)} }`).join('; ')} }`
}

function isSchema(value: unknown): value is TSchema {
  return typeof value === 'object' && value !== null && Kind in value
}

function titleOf(value: unknown): string | undefined {
  return isSchema(value) ? value.title : undefined
}

/** Returns the schema that an annotated copy was made of. */
function baseOf(schema: Schema): Schema {
  return (schema as { readonly [BASE]?: Schema })[BASE] ?? schema
}

/** Returns the title of a schema that has a type of its own; scalars are written in place. */
function namedTitle(schema: Schema): string | undefined {
  return schema.properties !== undefined || schema.anyOf !== undefined ? schema.title : undefined
}

function titlesIn(value: unknown): string[] {
  return [...schemasIn({ value })].map(({ title }) => title!)
}

/** Lists the schemas with a type of their own in the exports of a module, at any depth. */
function* schemasIn(of: Readonly<Record<string, unknown>>): Generator<Schema> {
  for (const value of Object.values(of)) {
    if (typeof value !== 'object' || value === null) continue
    if (!isSchema(value)) {
      if (!Array.isArray(value)) yield* schemasIn(value as Record<string, unknown>)
      continue
    }
    const schema = baseOf(value as Schema)
    if (namedTitle(schema) !== undefined) yield schema
    const { properties = {}, items, anyOf = [] } = schema
    yield* schemasIn({ ...properties, ...anyOf, items })
  }
}
