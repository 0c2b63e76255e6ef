import { Kind } from '@sinclair/typebox'
import { schemaType } from './schemaType.ts'

/** A const of a declaration file begins here; so does everything else on its top level. */
const STATEMENT = /^(?=\/\*\*|export |import |declare |type |interface )/m

/** What stands for the library of schemas: each schema is declared by the one thing that types need of it. With the `export` it stays in its file. */
const STATIC = 'type Static<Schema extends { static: unknown }> = Schema["static"];\nexport {};\n'

/**
 * The declarations of a module of schemas without the library they are made with. `module` is the module itself: its schemas say what their types are.
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
  // Functions that make schemas are for the service alone.
  return statement.startsWith('export declare function') && /\bTSchema\b/.test(statement) ? '' : statement
}

/** `undefined` when it is neither a schema nor a table of schemas. */
function constType(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  if (Kind in value) return `{ static: ${schemaType(value as object)} }`
  const entries = Object.entries(value).map(([name, one]) => [name, constType(one)] as const)
  if (entries.length === 0 || entries.some(([, type]) => type === undefined)) return undefined
  return `{ ${entries.map(([name, type]) => `${name}: ${type}`).join('; ')} }`
}
