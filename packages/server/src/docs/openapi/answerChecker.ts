import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import type { OpenapiDocument } from './createDocument.ts'
import type { JsonObject } from './schemaDescriber.ts'

/** Holds answers against the document: what the service sends must be what it says it sends. */
export interface AnswerChecker {
  /** What is wrong with an answer, in words; empty when it is as documented. `body` is the parsed JSON. */
  problems(operationId: string, status: number, body: unknown): readonly string[]
  /** Throws an error that lists the problems, with the answer. */
  assert(operationId: string, status: number, body: unknown): void
}

/** An answer of an operation, written out or by reference. */
interface DocumentedAnswer {
  readonly $ref?: string
  /** Of one type: JSON, or the plain text of the facade. */
  readonly content?: Readonly<Record<string, { readonly schema: object }>>
}

/** The part of an operation that is looked at. */
interface DocumentedOperation {
  readonly operationId: string
  readonly responses: Readonly<Record<string, DocumentedAnswer>>
}

/** Throws when a schema of the document is not valid itself. For tests: it compiles every schema. */
export function createAnswerChecker(document: OpenapiDocument): AnswerChecker {
  const validators = compileAll(document)

  function problems(operationId: string, status: number, body: unknown): readonly string[] {
    const byStatus = validators.get(operationId)
    if (byStatus === undefined) return [`there is no operation ${operationId}`]
    const validate = byStatus.get(String(status))
    if (validate === undefined) return [`${operationId} does not answer with ${status}`]
    if (validate(body)) return []
    return (validate.errors ?? []).map(({ instancePath, message, params }) =>
      `${instancePath} ${message} ${JSON.stringify(params)}`.trim(),
    )
  }

  return {
    problems,
    assert(operationId, status, body) {
      const found = problems(operationId, status, body)
      if (found.length === 0) return
      throw new Error(
        `${operationId} answered ${status} against its schema: ${found.join('; ')}: ${JSON.stringify(body)}`,
      )
    },
  }
}

function compileAll(document: OpenapiDocument): ReadonlyMap<string, ReadonlyMap<string, ValidateFunction>> {
  const ajv = new Ajv2020({ allErrors: true, strictTypes: false })
  // Lets a schema carry the components its references point into.
  ajv.addKeyword('components')
  const { components } = document
  const compile = (answer: DocumentedAnswer): ValidateFunction =>
    ajv.compile({ ...schemaOf(answer, components), components })
  const operations = Object.values(document.paths).flatMap((path) => Object.values(path)) as unknown[]
  return new Map(
    (operations as DocumentedOperation[]).map(({ operationId, responses }) => [
      operationId,
      new Map(Object.entries(responses).map(([status, answer]) => [status, compile(answer)])),
    ]),
  )
}

const RESPONSES = '#/components/responses/'

function schemaOf({ $ref, content }: DocumentedAnswer, components: JsonObject): object {
  const [only] = Object.values(content ?? {})
  if (only !== undefined) return only.schema
  const named = components.responses as unknown as Readonly<Record<string, DocumentedAnswer>>
  const answer = named[$ref?.slice(RESPONSES.length) ?? '']
  if (answer === undefined) throw new Error(`the document has no ${$ref}`)
  return schemaOf(answer, components)
}
