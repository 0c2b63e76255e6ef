import { refName } from '../../packages/server/src/docs/openapi/openapiDocument.ts'
import type { Schema, Schemas } from '../../packages/server/src/docs/openapi/schemaDescriber.ts'

/** Names of schemas that mean something else in Python. */
const RENAMED: Readonly<Record<string, string>> = { Decimal: 'DecimalText', Error: 'ErrorBody' }

const KEYWORDS = new Set(['from', 'import', 'class', 'def', 'in', 'is', 'not', 'or', 'and', 'pass', 'global', 'None'])

const DOC_WIDTH = 110

/** Writes schemas as Python types: objects as `TypedDict`, everything else as an alias. */
export interface PythonTypes {
  /** Returns the type of a schema. An object without a name of its own gets `name`. */
  typeOf(schema: Schema, name: string): string
  /** Returns the module of all types that were asked for and of those that they mention. */
  text(): string
}

interface Place {
  readonly name: string
  /** Requests also take `decimal.Decimal` where a decimal string is due. */
  readonly isRequest: boolean
}

/** The types written so far, by name. */
interface Written {
  readonly schemas: Schemas
  readonly classes: Map<string, string>
  readonly aliases: Map<string, string>
}

/** Creates the writer over the named schemas of a document. */
export function createPythonTypes(schemas: Schemas): PythonTypes {
  const written: Written = { schemas, classes: new Map(), aliases: new Map() }
  return {
    typeOf: (schema, name) => typeAt(written, schema, { name, isRequest: name.endsWith('Request') }),
    text: () => {
      for (const name of Object.keys(schemas)) named(written, name, { name, isRequest: false })
      return `${[HEAD, ...written.classes.values(), orderedAliases(written.aliases).join('\n')].join('\n\n\n')}\n`
    },
  }
}

function typeAt(written: Written, schema: Schema, place: Place): string {
  if (schema.$ref !== undefined) return named(written, refName(schema.$ref), place)
  // A reference with a meaning of its own, as AsyncAPI writes it.
  if (schema.allOf?.length === 1) return typeAt(written, schema.allOf[0]!, place)
  if (schema.const !== undefined) return `Literal[${literal(schema.const)}]`
  if (schema.enum !== undefined) return `Literal[${schema.enum.map(literal).join(', ')}]`
  if (schema.anyOf !== undefined) return choiceType(written, schema.anyOf, place)
  switch (schema.type) {
    case 'string':
      return 'str'
    case 'integer':
      return 'int'
    case 'boolean':
      return 'bool'
    case 'null':
      return 'None'
    case 'array':
      return `list[${typeAt(written, schema.items ?? {}, { ...place, name: `${place.name}Item` })}]`
    case 'object':
      return objectType(written, schema, place)
    case undefined:
      return 'Any'
    default:
      throw new Error(`there is no Python type for ${JSON.stringify(schema)}: teach pythonTypes.ts`)
  }
}

function choiceType(written: Written, anyOf: readonly Schema[], place: Place): string {
  // A shape that may be null is no choice between shapes.
  const isAlone = anyOf.filter(({ properties }) => properties !== undefined).length === 1
  const nameAt = (choice: Schema, at: number): string => (isAlone ? place.name : choiceName(choice, place.name, at))
  const choices = anyOf.map((choice, at) => typeAt(written, choice, { ...place, name: nameAt(choice, at) }))
  return `Union[${[...new Set(choices)].join(', ')}]`
}

/** Returns the name of a named schema, which is written when it is met first. */
function named(written: Written, name: string, { isRequest }: Place): string {
  if (isRequest && name === 'Decimal') return 'Numeric'
  const own = RENAMED[name] ?? name
  const { schemas, classes, aliases } = written
  if (classes.has(own) || aliases.has(own)) return own
  const schema = schemas[name]
  if (schema === undefined) throw new Error(`the document has no schema ${name}`)
  const place = { name: own, isRequest: name.endsWith('Request') }
  if (schema.properties !== undefined) return objectType(written, schema, place)
  // Set before its type is written, because a schema may mention itself.
  aliases.set(own, '')
  aliases.set(own, `${own} = ${typeAt(written, schema, place)}${comment(schema.description)}`)
  return own
}

function objectType(written: Written, schema: Schema, place: Place): string {
  const { properties, required = [], additionalProperties } = schema
  if (properties === undefined) {
    const value = typeof additionalProperties === 'object' ? typeAt(written, additionalProperties, place) : 'Any'
    return `dict[str, ${value}]`
  }
  const { name } = place
  written.classes.set(name, '')
  const fields = Object.entries(properties).map(([field, of]) => {
    const type = typeAt(written, of, { ...place, name: name + pascal(field) })
    return { field, type: required.includes(field) ? type : `NotRequired[${type}]`, doc: of.description }
  })
  written.classes.set(name, classText(name, schema.description, fields))
  return name
}

const HEAD = `"""The shapes of the interface. Made from its OpenAPI and AsyncAPI documents by \`npm run reference\`: do not edit."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Literal, NotRequired, TypedDict, Union

Numeric = Union[str, Decimal]
"""A number of a request: a decimal string or a \`Decimal\`, never a float."""`

interface Field {
  readonly field: string
  readonly type: string
  readonly doc: string | undefined
}

function classText(name: string, doc: string | undefined, fields: readonly Field[]): string {
  // A field that is a word of the language can't stand in a class.
  if (fields.some(({ field }) => KEYWORDS.has(field))) {
    const entries = fields.map(({ field, type }) => `    "${field}": "${type}",`)
    return [`${name} = TypedDict("${name}", {`, ...entries, '})'].join('\n')
  }
  const lines = fields.flatMap(({ field, type, doc: text }) => [`    ${field}: ${type}`, ...docLines(text, '    ')])
  const own = docLines(doc, '    ')
  return [`class ${name}(TypedDict):`, ...own, ...(own.length > 0 ? [''] : []), ...lines].join('\n')
}

/** Returns a docstring, wrapped; nothing without a text. */
export function docLines(text: string | undefined, indent: string): string[] {
  if (text === undefined || text === '') return []
  const lines = text.split('\n').flatMap(wrap)
  const plain = lines.map((line) => line.replaceAll('\\', '\\\\').replaceAll('"""', "'''"))
  if (plain.length === 1 && !plain[0]!.endsWith('"')) return [`${indent}"""${plain[0]}"""`]
  return [
    `${indent}"""${plain[0]}`,
    ...plain.slice(1).map((line) => (line === '' ? '' : indent + line)),
    `${indent}"""`,
  ]
}

function wrap(line: string): string[] {
  const lines: string[] = []
  let current = ''
  for (const word of line.split(' ')) {
    if (current !== '' && current.length + word.length + 1 > DOC_WIDTH) {
      lines.push(current)
      current = word
    } else current = current === '' ? word : `${current} ${word}`
  }
  return [...lines, current]
}

/** Returns aliases so that each one stands after those that it mentions. */
function orderedAliases(aliases: ReadonlyMap<string, string>): string[] {
  const done = new Set<string>()
  const lines: string[] = []
  function add(name: string): void {
    if (done.has(name)) return
    done.add(name)
    const text = aliases.get(name)!
    for (const other of aliases.keys()) if (new RegExp(`[\\[ ,]${other}\\b`).test(text)) add(other)
    lines.push(text)
  }
  for (const name of aliases.keys()) add(name)
  return lines
}

/** Returns a name for one of several shapes: after the first field that tells it from the others, else by number. */
function choiceName(choice: Schema, name: string, at: number): string {
  if (choice.properties === undefined) return name
  for (const field of Object.values(choice.properties)) {
    const values = field.const === undefined ? field.enum : [field.const]
    if (values !== undefined) return name + values.map((value) => pascal(String(value))).join('')
  }
  return `${name}${at + 1}`
}

function comment(text: string | undefined): string {
  return text === undefined ? '' : `\n${docLines(text, '').join('\n')}`
}

function literal(value: unknown): string {
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  return value === null ? 'None' : JSON.stringify(value)
}

/** Returns a name in PascalCase: `delegationTx` is `DelegationTx`, `1m` stays as it is. */
export function pascal(name: string): string {
  return name.replaceAll(/(?:^|[^A-Za-z0-9]+)([A-Za-z0-9])/g, (_, letter: string) => letter.toUpperCase())
}

/** Returns a name in snake_case: `listApiKeys` is `list_api_keys`. A word of the language gets an underscore. */
export function snake(name: string): string {
  const text = name.replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2').toLowerCase()
  return KEYWORDS.has(text) ? `${text}_` : text
}
