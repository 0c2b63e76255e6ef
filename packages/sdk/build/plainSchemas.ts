import { Kind } from '@sinclair/typebox'
import { schemaType } from './schemaType.ts'

/** Splits a declaration file before each statement of its top level. */
const STATEMENT = /^(?=\/\*\*|export |import |declare |type |interface )/m

/**
 * Replacement of the schema library: a schema is declared by the one member that types need. The `export` keeps it
 * local to its file.
 */
const STATIC = 'type Static<Schema extends { static: unknown }> = Schema["static"];\nexport {};\n'

/**
 * Returns the declarations of a module of schemas without the schema library. `module` is the module itself, from whose
 * schemas the types are made.
 */
export function plainSchemas(declarations: string, module: Readonly<Record<string, unknown>>): string {
  return declarations
    .split(STATEMENT)
    .map((statement) => plainStatement(statement, module))
    .join('')
}

function plainStatement(statement: string, module: Readonly<Record<string, unknown>>): string {
  const imported = /^import .* from ['"]@sinclair\/typebox['"]/.test(statement)
  if (imported) return /\bStatic\b/.test(statement) ? STATIC : ''
  const name = /^(?:export )?declare const (\w+)\b/.exec(statement)?.[1]
  const type = name === undefined ? undefined : constType(module[name])
  if (type !== undefined) return `export declare const ${name}: ${type};\n`
  // Drops functions that make schemas: only the service needs them.
  return statement.startsWith('export declare function') && /\bTSchema\b/.test(statement) ? '' : statement
}

/** Returns the type of a schema or of a table of schemas; `undefined` for any other value. */
function constType(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  if (Kind in value) return `{ static: ${schemaType(value as object)} }`
  const entries = Object.entries(value).map(([name, one]) => [name, constType(one)] as const)
  if (entries.length === 0 || entries.some(([, type]) => type === undefined)) return undefined
  return `{ ${entries.map(([name, type]) => `${name}: ${type}`).join('; ')} }`
}
