import type {
  Content,
  OpenapiAnswer,
  OpenapiDocument,
  OpenapiOperation,
  OpenapiParameter,
  Ref,
} from './openapiDocument.ts'
import type { Schema, Schemas } from './schemaDescriber.ts'
import { collectExamples } from './propertyExamples.ts'
import type { RecordedCall, Recording } from '../recorded/recording.ts'

const JSON_TYPE = 'application/json'

/**
 * Returns the document with the values of a recording: as examples of bodies, answers and parameters, and of every
 * property that a recorded value has.
 */
export function withExamples(document: OpenapiDocument, { operations }: Recording): OpenapiDocument {
  const { schemas, responses } = document.components
  const examples = collectExamples(schemas)
  for (const { operation } of operationsOf(document)) {
    for (const { body, status, answer } of operations[operation.operationId] ?? []) {
      examples.collect(operation.requestBody?.content[JSON_TYPE]?.schema, body)
      examples.collect(answerSchema(operation, status, responses, schemas), answer)
    }
  }
  const paths = mapOperations(document.paths, (operation, path) => {
    const calls = operations[operation.operationId] ?? []
    return calls.length === 0 ? operation : operationWithExamples(operation, path, calls)
  })
  return examples.addTo({ ...document, paths })
}

function* operationsOf({ paths }: OpenapiDocument): Generator<{ path: string; operation: OpenapiOperation }> {
  for (const [path, methods] of Object.entries(paths)) {
    for (const operation of Object.values(methods)) yield { path, operation }
  }
}

function mapOperations(
  paths: OpenapiDocument['paths'],
  map: (operation: OpenapiOperation, path: string) => OpenapiOperation,
): OpenapiDocument['paths'] {
  const mapped = Object.entries(paths).map(([path, methods]) => [
    path,
    Object.fromEntries(Object.entries(methods).map(([method, operation]) => [method, map(operation, path)])),
  ])
  return Object.fromEntries(mapped) as OpenapiDocument['paths']
}

/** Returns the schema of an answer; errors all have the same. */
function answerSchema(
  operation: OpenapiOperation,
  status: number,
  responses: Readonly<Record<string, OpenapiAnswer>>,
  schemas: Schemas,
): Schema | undefined {
  const answer = operation.responses[status]
  if (answer === undefined) return undefined
  const { content } = '$ref' in answer ? responses[answer.$ref.split('/').at(-1)!]! : answer
  const schema = content[JSON_TYPE]?.schema
  return schema?.allOf === undefined ? schema : schemas.Error
}

function operationWithExamples(
  operation: OpenapiOperation,
  path: string,
  calls: readonly RecordedCall[],
): OpenapiOperation {
  const { requestBody, parameters, responses } = operation
  // The first call is the one to show; a later one has the parameters that it lacks.
  const values = Object.assign({}, ...calls.toReversed().map((call) => parametersOf(path, call.path))) as Parameters
  const asked = calls.find(({ body }) => body !== undefined)
  return {
    ...operation,
    ...(parameters === undefined ? {} : { parameters: parameters.map((one) => withParameter(one, values)) }),
    ...(requestBody === undefined || asked === undefined
      ? {}
      : { requestBody: { ...requestBody, content: withContent(requestBody.content, asked.body) } }),
    responses: Object.fromEntries(
      Object.entries(responses).map(([status, answer]) => [status, withAnswer(answer, status, calls)]),
    ),
  }
}

type Parameters = Readonly<Record<string, string>>

/** Returns the path and query parameters of a recorded path. */
function parametersOf(template: string, recorded: string): Parameters {
  const { pathname, searchParams } = new URL(recorded, 'http://localhost')
  const parts = pathname.split('/')
  const inPath = template.split('/').flatMap((part, at) => {
    const name = /^\{(\w+)\}$/.exec(part)?.[1]
    return name === undefined ? [] : [[name, decodeURIComponent(parts[at]!)] as const]
  })
  return { ...Object.fromEntries(inPath), ...Object.fromEntries(searchParams) }
}

function withParameter(parameter: OpenapiParameter | Ref, values: Parameters): OpenapiParameter | Ref {
  if ('$ref' in parameter) return parameter
  const text = values[parameter.name]
  if (text === undefined) return parameter
  const { schema } = parameter
  const isNumber = schema.type === 'integer' || schema.$ref?.endsWith('/Timestamp') === true
  if (schema.type === 'boolean') return { ...parameter, example: text === 'true' }
  return { ...parameter, example: isNumber ? Number(text) : text }
}

function withAnswer(answer: OpenapiAnswer | Ref, status: string, calls: readonly RecordedCall[]): OpenapiAnswer | Ref {
  const call = calls.find((one) => String(one.status) === status)
  if ('$ref' in answer || call === undefined) return answer
  return { ...answer, content: withContent(answer.content, call.answer) }
}

function withContent(content: Content, example: unknown): Content {
  const json = content[JSON_TYPE]
  return json === undefined ? content : { ...content, [JSON_TYPE]: { ...json, example } }
}
