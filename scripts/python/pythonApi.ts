import {
  resolveRef,
  type OpenapiDocument,
  type OpenapiOperation,
  type OpenapiParameter,
} from '../../packages/server/src/docs/openapi/openapiDocument.ts'
import type { Schema } from '../../packages/server/src/docs/openapi/schemaDescriber.ts'
import { docLines, pascal, snake, type PythonTypes } from './pythonTypes.ts'

const JSON_TYPE = 'application/json'

interface Method {
  readonly id: string
  readonly method: string
  readonly path: string
  readonly operation: OpenapiOperation
  readonly parameters: readonly OpenapiParameter[]
  /** Type of the body; `undefined` when there is none. */
  readonly body: { readonly type: string; readonly isRequired: boolean } | undefined
  readonly answer: string
  /** Statuses that carry the answer. */
  readonly statuses: readonly number[]
}

/** Returns the module with one method for each operation, for callers that block and for those that await. */
export function pythonApi(document: OpenapiDocument, types: PythonTypes): string {
  const methods = Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => describe(document, types, { path, method, operation })),
  )
  const table = methods.map(
    ({ id, method, path, operation, statuses }) =>
      `    "${id}": Operation("${id}", "${method}", "${path}", "${accessOf(operation)}", (${statuses.join(', ')},)),`,
  )
  return [
    HEAD,
    ['OPERATIONS: dict[str, Operation] = {', ...table, '}'].join('\n'),
    classText('Api', 'Every operation, one method each. Calls block.', methods, false),
    classText('AsyncApi', 'Every operation, one method each. Calls are awaited.', methods, true),
  ]
    .join('\n\n\n')
    .concat('\n')
}

const HEAD = `"""Every operation of the interface. Made from its OpenAPI document by \`npm run reference\`: do not edit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, Union, cast

from . import types
from .calls import Caller, Operation, run_now`

function describe(
  document: OpenapiDocument,
  types: PythonTypes,
  { path, method, operation }: { readonly path: string; readonly method: string; readonly operation: OpenapiOperation },
): Method {
  const { operationId: id } = operation
  const parameters = (operation.parameters ?? []).map((parameter) =>
    resolveRef<OpenapiParameter>(parameter, document.components.parameters),
  )
  const answers = Object.entries(operation.responses).flatMap(([status, answer]) => {
    const schema = resolveRef(answer, document.components.responses).content[JSON_TYPE]?.schema
    return schema === undefined ? [] : [{ status: Number(status), schema }]
  })
  const success = answers.find(({ status }) => status < 300)
  const body = operation.requestBody
  const bodySchema = body?.content[JSON_TYPE]?.schema
  return {
    id,
    method: method.toUpperCase(),
    path,
    operation,
    parameters: parameters.filter((parameter) => parameter.in !== 'header' && parameter.name !== 'chain'),
    body:
      body === undefined || bodySchema === undefined
        ? undefined
        : { type: bodyType(types, bodySchema, id), isRequired: body.required },
    answer: success === undefined ? 'None' : prefixed(types.typeOf(success.schema, `${pascal(id)}Answer`)),
    // An operation may answer the same shape with another status: /ready does while it is not.
    statuses: answers
      .filter(({ schema }) => JSON.stringify(schema) === JSON.stringify(success?.schema))
      .map(({ status }) => status),
  }
}

/** Returns the type of a body. One that takes any further field is a mapping, as those of the exchange facade. */
function bodyType(types: PythonTypes, schema: Schema, id: string): string {
  if (schema.$ref === undefined && schema.additionalProperties !== false) return 'Mapping[str, Any]'
  return prefixed(types.typeOf(schema, `${pascal(id)}Request`))
}

function accessOf({ security = [] }: OpenapiOperation): string {
  const schemes = security.flatMap((entry) => Object.keys(entry))
  if (schemes.includes('ApiKey')) return 'agent_or_key'
  return schemes.length === 0 ? 'none' : 'agent'
}

/** Returns a type with the module before the names that are defined in it. */
function prefixed(type: string): string {
  return type.replaceAll(/\b(?!Literal\b|Union\b|None\b|Any\b|True\b|False\b)[A-Z]\w*(?![\w"])/g, 'types.$&')
}

function classText(name: string, doc: string, methods: readonly Method[], isAsync: boolean): string {
  const head = [
    `class ${name}:`,
    `    """${doc}"""`,
    '',
    '    def __init__(self, caller: Caller) -> None:',
    '        self._caller = caller',
  ]
  return [...head, ...methods.flatMap((method) => ['', ...methodLines(method, isAsync)])].join('\n')
}

function methodLines({ id, path, operation, parameters, body, answer }: Method, isAsync: boolean): string[] {
  const inPath = parameters.filter((parameter) => parameter.in === 'path')
  const inQuery = parameters.filter((parameter) => parameter.in === 'query')
  // The address is the trader's own unless it is named.
  const isOwn = ({ name }: OpenapiParameter): boolean => name === 'address' && !path.includes('/agents/')
  const named = [
    ...inPath.filter((parameter) => !isOwn(parameter)).map(({ name }) => `${snake(name)}: str`),
    ...(body?.isRequired === true ? [`body: ${body.type}`] : []),
    ...(body?.isRequired === false ? [`body: Union[${body.type}, None] = None`] : []),
  ]
  const optional = [
    ...inPath.filter(isOwn).map(({ name }) => `${snake(name)}: Union[str, None] = None`),
    ...inQuery.toSorted(requiredFirst).map(queryParameter),
  ]
  const list = ['self', ...named, ...(optional.length > 0 ? ['*', ...optional] : [])]
  const call = [
    `"${id}"`,
    ...(inPath.length > 0 ? [`path={${inPath.map(({ name }) => `"${name}": ${snake(name)}`).join(', ')}}`] : []),
    ...(inQuery.length > 0 ? [`query={${inQuery.map(({ name }) => `"${name}": ${snake(name)}`).join(', ')}}`] : []),
    ...(body === undefined ? [] : ['body=body']),
  ].join(', ')
  const doc = [operation.summary.replace(/\.?$/, '.'), operation.description, ...queryDocs(inQuery)].filter(
    (text) => text !== undefined && text !== '',
  )
  const asked = `self._caller.call(OPERATIONS[${call.replace(`"${id}"`, `"${id}"]`)})`
  return [
    `    ${isAsync ? 'async ' : ''}def ${snake(id)}(`,
    ...list.map((entry) => `        ${entry},`),
    `    ) -> ${answer}:`,
    ...docLines(doc.join('\n\n'), '        '),
    answer === 'Any' || answer === 'None'
      ? `        return ${isAsync ? `await ${asked}` : `run_now(${asked})`}`
      : `        return cast("${answer.replaceAll('"', "'")}", ${isAsync ? `await ${asked}` : `run_now(${asked})`})`,
  ]
}

function requiredFirst(one: OpenapiParameter, other: OpenapiParameter): number {
  return Number(other.required === true) - Number(one.required === true)
}

function queryParameter({ name, schema, required }: OpenapiParameter): string {
  const type = queryType(schema)
  return required === true ? `${snake(name)}: ${type}` : `${snake(name)}: Union[${type}, None] = None`
}

function queryType(schema: Schema): string {
  if (schema.enum !== undefined) return `Literal[${schema.enum.map((value) => JSON.stringify(value)).join(', ')}]`
  if (schema.$ref !== undefined)
    return prefixed(schema.$ref.endsWith('/Decimal') ? 'Numeric' : schema.$ref.split('/').at(-1)!)
  if (schema.type === 'integer') return 'int'
  return schema.type === 'boolean' ? 'bool' : 'str'
}

function queryDocs(parameters: readonly OpenapiParameter[]): string[] {
  const lines = parameters.flatMap(({ name, description, schema }) => {
    const text = description ?? schema.description
    return text === undefined ? [] : [`\`${snake(name)}\`: ${text}`]
  })
  return lines.length === 0 ? [] : [lines.join('\n')]
}
