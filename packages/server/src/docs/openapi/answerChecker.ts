import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { resolveRef, type OpenapiAnswer, type OpenapiDocument, type Ref } from './openapiDocument.ts'

/** Checks answers against the document, so that the service sends what it documents. */
export interface AnswerChecker {
  /** Returns the problems of an answer in words; empty when it is as documented. `body` is the parsed JSON. */
  problems(operationId: string, status: number, body: unknown): readonly string[]
  /** Throws an error that lists the problems together with the answer. */
  assert(operationId: string, status: number, body: unknown): void
}

/** Creates a checker, for tests. Compiles every schema of the document and throws when one is not valid. */
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
  // Lets a schema carry the components that its references point into.
  ajv.addKeyword('components')
  const { components, paths } = document
  const compile = (answer: OpenapiAnswer | Ref): ValidateFunction => {
    // Each answer has one content type: JSON, or the plain text of the facade.
    const [only] = Object.values(resolveRef(answer, components.responses).content)
    return ajv.compile({ ...only?.schema, components })
  }
  return new Map(
    Object.values(paths)
      .flatMap((path) => Object.values(path))
      .map(({ operationId, responses }) => [
        operationId,
        new Map(Object.entries(responses).map(([status, answer]) => [status, compile(answer)])),
      ]),
  )
}
